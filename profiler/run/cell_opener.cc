// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/cell_opener.h"

#include <algorithm>

#include "profiler/rate/search.h"
#include "profiler/run/budget.h"

namespace icepath::run {

std::unique_ptr<LiveCell> CellOpener::open(size_t cell, std::unique_ptr<LiveCell> before)
{
	// A failure that took longer isn't worth the time of another try.
	constexpr uint64_t kAtOnceNs = 2'000'000'000;
	// Starting a daemon isn't part of an opening: daemons live for the whole run.
	Surroundings around = middleware_.surroundings_of(plan_.cells[cell], plan_.plugin_of_cell[cell]);
	around.locks_memory = locks_memory_;
	Openings &told = openings_[cell];
	const uint64_t begin_ns = icepath_now_ns();
	if (before) {
		families_[cell] = before->families();
		before->close();
		before.reset();
	}
	std::unique_ptr<LiveCell> opened;
	try {
		opened = try_to_open(cell, around);
	} catch (const WorkerFailed &failed) {
		told.failed++;
		told.why_failed = failed.what();
		if (const auto daemon_end = middleware_.daemon_end(plan_.plugin_of_cell[cell]))
			throw WorkerFailed(*daemon_end);
		if (!failed.may_pass || icepath_now_ns() - begin_ns > kAtOnceNs)
			throw;
		opened = try_to_open(cell, around);
	}
	told.done++;
	told.took_ns = icepath_now_ns() - begin_ns;
	return opened;
}

std::unique_ptr<LiveCell> CellOpener::try_to_open(size_t cell, const Surroundings &around)
{
	uint32_t max_messages = messages_ + kWarmUp;
	if (plan_.cells[cell].limits) {
		const rate::Terms terms = rate::terms_of(plan_.cells[cell]);
		max_messages = std::max(max_messages, kWarmUp + rate::messages_at(terms, rate::hz_of(terms.highest)));
	}
	return std::make_unique<LiveCell>(plan_.cells[cell], plan_.plugin_of_cell[cell], number_++, max_messages, slots_,
									  helper_, around, families_[cell]);
}

BlockWish first_block(const model::Cell &cell, uint64_t number)
{
	constexpr uint32_t kMessages = 64;
	constexpr uint64_t kLongestNs = 50'000'000;
	constexpr double kHz = 2000; // of a cell whose blocks have rates of their own
	BlockWish wish;
	wish.number = number;
	wish.warm_up = warm_up_of(cell);
	wish.count = kMessages;
	wish.duration_ns = kLongestNs;
	if (cell.limits)
		wish.rate_hz = kHz;
	return wish;
}

} // namespace icepath::run
