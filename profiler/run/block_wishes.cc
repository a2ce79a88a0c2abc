// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/block_wishes.h"

#include <algorithm>

#include "profiler/rate/outcome.h"
#include "profiler/run/budget.h"
#include "profiler/run/run_cells.h"
#include "profiler/run/sampled_functions.h"

namespace icepath::run {

BlockWishes::BlockWishes(const std::vector<model::Cell> &cells, uint32_t messages)
	: cells_(cells), messages_(messages), searches_(cells.size())
{
	for (size_t i = 0; i < cells.size(); i++) {
		warm_ups_.push_back(warm_up_of(cells[i]));
		if (cells[i].limits)
			searches_[i].emplace(rate::terms_of(cells[i]));
	}
}

BlockWish BlockWishes::next(size_t cell, bool probed, bool count_hardware, bool sample, uint64_t duration_ns)
{
	BlockWish wish;
	wish.number = ++begun_;
	wish.warm_up = warm_ups_[cell];
	wish.duration_ns = duration_ns;
	wish.count = most_messages(cells_[cell], wish.duration_ns, messages_);
	wish.at_least = kUsefulMessages;
	wish.probed = probed;
	// Hardware counters lengthen context switches, which would lower the rate that is found.
	wish.count_hardware = count_hardware && !probed && !searches_[cell];
	if (sample && probed && !searches_[cell])
		wish.sample_period_ns = sampling_period_ns(model::due_hz(cells_[cell]), wish.duration_ns);
	if (searches_[cell])
		set_rate(wish, cell);
	return wish;
}

BlockWish BlockWishes::first_block(size_t cell) { return run::first_block(cells_[cell], ++begun_); }

// Blocks without probes search, and are long enough to be judged. Blocks with probes run at the best rate known so far
// and steer nothing: the cost of probes is no property of the cell.
void BlockWishes::set_rate(BlockWish &wish, size_t cell) const
{
	const rate::RateSearch &search = *searches_[cell];
	const std::optional<double> best_hz = search.best_hz();
	wish.confirms = confirms_rates_ && best_hz;
	const double hz = wish.probed || wish.confirms ? best_hz.value_or(search.next_hz()) : search.next_hz();
	wish.rate_hz = hz;
	wish.count = wish.probed ? messages_ : rate::messages_at(rate::terms_of(cells_[cell]), hz);
	// A sender that hasn't sent everything in twice the time can't keep the rate.
	constexpr uint64_t kSlackNs = 20'000'000;
	wish.duration_ns = 2 * searching_block_ns(cells_[cell], hz) + kSlackNs;
}

uint64_t BlockWishes::searching_ns(size_t cell) const
{
	const rate::RateSearch &search = *searches_[cell];
	const double hz = confirms_rates_ ? search.best_hz().value_or(search.next_hz()) : search.next_hz();
	return searching_block_ns(cells_[cell], hz);
}

void BlockWishes::learn_rate(const model::Block &block)
{
	auto &search = searches_[block.cell];
	if (!search || block.confirms)
		return;
	if (const auto verdict = rate::judge(block, cells_[block.cell]))
		search->add(*block.rate_hz, verdict->held);
}

uint64_t BlockWishes::learn_pace(size_t cell, const model::Block &block)
{
	const auto &sends = block.flows[0].sends;
	const uint64_t begin_ns = sends.empty() ? block.window->begin.monotonic_ns : sends[0].send_ns;
	const uint64_t took_ns = std::max(block.window->finish.monotonic_ns, begin_ns) - begin_ns;
	const uint64_t message_ns = took_ns / std::max<uint64_t>(1, sends.size());
	warm_ups_[cell] = warm_up_of(cells_[cell], message_ns);
	return least_block_ns(message_ns, warm_ups_[cell], messages_);
}

} // namespace icepath::run
