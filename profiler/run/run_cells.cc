// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/run_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "profiler/failure.h"
#include "profiler/model/cell_title.h"
#include "profiler/rate/search.h"
#include "profiler/run/budget.h"
#include "profiler/run/loaded_files.h"
#include "profiler/rundir/limits.h"

namespace icepath::run {

uint64_t RunCells::open(size_t cell)
{
	Course &course = courses_[cell];
	if (const auto death = course.cell ? course.cell->death() : std::nullopt) {
		give_up(cell, *death);
		return 0;
	}
	const uint32_t failed_before = opener_.of(cell).failed;
	try {
		course.cell = opener_.open(cell, std::move(course.cell));
		course.tried_again = course.state == State::Failed;
		course.state = State::Fresh;
		if (const std::string notice = course.cell->not_locked_notice(); !notice.empty())
			notices_.add(notice);
		const Openings &openings = opener_.of(cell);
		if (openings.done == 1) {
			head_.cells[cell].granted = course.cell->granted();
			note_loaded(cell);
		}
		if (openings.failed > failed_before)
			notices_.add(fmt::format("{}: its processes were started again after a failed start: {}",
									 model::title(head_.cells[cell]), openings.why_failed));
		return openings.took_ns;
	} catch (const privilege::HelperDied &died) {
		give_up(cell, died.what());
		throw;
	} catch (const isolation::KeeperLost &lost) {
		give_up(cell, lost.what());
		throw;
	} catch (const Failure &failure) {
		give_up(cell, failure.what());
		return 0;
	}
}

void RunCells::note_loaded(size_t cell)
{
	const model::Cell &what = head_.cells[cell];
	const auto arm = std::ranges::find(head_.arms, what.arm, &model::Arm::name);
	if (arm == head_.arms.end() ||
		std::ranges::find(arm->loaded, what.target, &model::LoadedFile::target) != arm->loaded.end())
		return;
	std::vector<model::LoadedFile> files = loaded_files(courses_[cell].cell->processes().front()->pid(), what.target,
														opener_.plugin_of(cell), what.library);
	const size_t room = rundir::kMaxLoadedFiles - arm->loaded.size();
	if (files.size() > room) {
		notices_.add(fmt::format("arm {}: more than {} files were loaded: further ones aren't told", what.arm,
								 rundir::kMaxLoadedFiles));
		files.resize(room);
	}
	std::ranges::move(files, std::back_inserter(arm->loaded));
}

bool RunCells::any_failed(const Visit &visit) const
{
	return std::ranges::any_of(visit, [&](size_t cell) { return failed(cell); });
}

bool RunCells::any_left() const
{
	return std::ranges::any_of(courses_, [](const Course &course) { return course.state != State::Over; });
}

Visit RunCells::living(const Visit &visit) const
{
	Visit left;
	std::ranges::copy_if(visit, std::back_inserter(left), [&](size_t cell) { return live(cell) != nullptr; });
	return left;
}

size_t RunCells::name_those_without_data(const RunRecord &record, bool probes, bool always_probed)
{
	size_t without_data = 0;
	for (size_t cell = 0; cell < courses_.size(); cell++) {
		const bool unprobed = record.counted(cell, false), probed = record.counted(cell, true);
		if (!live(cell) || (unprobed && (probed || !probes)) || (always_probed && probed))
			continue;
		notices_.add(fmt::format("{}: no message after a block's warm-up was received {}: measure longer (-d)",
								 live(cell)->title(),
								 unprobed || always_probed ? "with probes, so there is no breakdown"
														   : "without probes, so there is no latency"));
		without_data++;
	}
	return without_data;
}

bool RunCells::is_fresh(size_t cell) { return std::exchange(courses_[cell].state, State::Live) != State::Live; }

void RunCells::block_failed(size_t cell, const std::string &why, bool may_pass)
{
	Course &course = courses_[cell];
	if (!may_pass || course.tried_again || !course.cell->failure_may_pass()) {
		give_up(cell, why);
		return;
	}
	notices_.add(fmt::format("{}: a block failed in round {}, and its processes were restarted: {}",
							 model::title(head_.cells[cell]), round_, why));
	course.cell.reset();
	course.state = State::Failed;
}

void RunCells::give_up(size_t cell, const std::string &why)
{
	given_up_.push_back(fmt::format("{} {}: {}", model::title(head_.cells[cell]),
									round_ ? fmt::format("ended in round {}", round_) : "couldn't be started", why));
	notices_.add(given_up_.back());
	courses_[cell].cell.reset();
	courses_[cell].state = State::Over;
}

std::unique_ptr<LiveCell> CellOpener::open(size_t cell, std::unique_ptr<LiveCell> before)
{
	// A failure that took longer isn't worth the time of another try.
	constexpr uint64_t kAtOnceNs = 2'000'000'000;
	// Starting a daemon isn't part of an opening: daemons live for the whole run.
	Surroundings around = middleware_.surroundings_of(plan_.cells[cell], plan_.plugin_of_cell[cell]);
	around.isolated = isolated_;
	Openings &openings = openings_[cell];
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
		openings.failed++;
		openings.why_failed = failed.what();
		if (const auto daemon_end = middleware_.daemon_end(plan_.plugin_of_cell[cell], plan_.cells[cell].arm))
			throw WorkerFailed(*daemon_end);
		if (!failed.may_pass || icepath_now_ns() - begin_ns > kAtOnceNs)
			throw;
		opened = try_to_open(cell, around);
	}
	openings.done++;
	openings.took_ns = icepath_now_ns() - begin_ns;
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
