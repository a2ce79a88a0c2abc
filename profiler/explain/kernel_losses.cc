// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/kernel_losses.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace icepath::explain {

uint64_t dropped_at_full_buffers(const analysis::CellResult &cell)
{
	const auto &counts = cell.sockets.counts;
	const uint64_t full = counts ? counts->udp_receive_buffer_full : model::kNotCounted;
	return full == model::kNotCounted ? 0 : std::min(full, cell.sockets.dropped());
}

namespace {

using Block = analysis::SocketUse::Block;

struct Together {
	uint64_t stalls = 0, both = 0, others = 0, only_drops = 0; // blocks; others: without a stall
};

Together together(const std::vector<Block> &blocks, uint64_t stall_ns, uint64_t Block::*count)
{
	Together found;
	for (const Block &block : blocks) {
		const bool stalled = block.longest_ns >= stall_ns, dropped = block.*count > 0;
		++(stalled ? found.stalls : found.others);
		found.both += stalled && dropped ? 1 : 0;
		found.only_drops += !stalled && dropped ? 1 : 0;
	}
	return found;
}

double log_choose(uint64_t n, uint64_t k)
{
	const auto log_factorial = [](uint64_t of) { return std::lgamma(static_cast<double>(of) + 1); };
	return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

// Probability that chance alone puts so many or more of the stalls into blocks with drops: Fisher's exact test,
// one-sided.
double by_chance(const Together &seen)
{
	const uint64_t dropped = seen.both + seen.only_drops, all = seen.stalls + seen.others;
	double sum = 0;
	for (uint64_t both = seen.both; both <= std::min(dropped, seen.stalls); ++both)
		if (dropped - both <= seen.others)
			sum += std::exp(log_choose(seen.stalls, both) + log_choose(seen.others, dropped - both) -
							log_choose(all, dropped));
	return sum;
}

constexpr uint64_t kLeastBlocks = 3;

// Drops in practically all blocks with a stall, and more than chance has; or, where every block has both, no contrast.
bool come_together(const Together &seen, double chance)
{
	if (seen.both < kLeastBlocks || seen.both * 10 < seen.stalls * 9)
		return false;
	return seen.others == 0 || by_chance(seen) < chance;
}

// Shorter stalls may have another cause, such as tasks that take the CPU, and hide what longer ones come with. So a
// stall is a message of `least_ns`, of twice that, and so on: the shortest of these that come together with drops.
std::optional<std::pair<uint64_t, Together>> shortest_with(const std::vector<Block> &blocks, uint64_t least_ns,
														   uint64_t Block::*count)
{
	constexpr double kChance = 0.01; // of all that are tried
	std::vector<std::pair<uint64_t, Together>> tried;
	for (uint64_t ns = least_ns;; ns *= 2) {
		const Together seen = together(blocks, ns, count);
		if (seen.stalls < kLeastBlocks)
			break;
		if (tried.empty() || seen.stalls < tried.back().second.stalls) // otherwise the blocks are the same
			tried.emplace_back(ns, seen);
	}
	const double chance = kChance / static_cast<double>(tried.size());
	const auto found = std::ranges::find_if(tried, [&](const auto &one) { return come_together(one.second, chance); });
	return found == tried.end() ? std::nullopt : std::optional(*found);
}

std::optional<Finding> stalls_with(FindingId id, const analysis::CellResult &cell, size_t index, uint64_t Block::*count)
{
	constexpr uint64_t kLeastStallNs = 10'000'000, kTimesP50 = 10;
	const auto &p50 = cell.times.latency.percentiles[0] ? cell.times.latency.percentiles[0]
														: cell.times.latency_probed.percentiles[0];
	const auto found = shortest_with(cell.sockets.blocks, std::max(kLeastStallNs, kTimesP50 * p50.value_or(0)), count);
	if (!found)
		return std::nullopt;
	const auto &[stall_ns, seen] = *found;
	return Finding{.id = id,
				   .cell = index,
				   .value = number(seen.both),
				   .evidence = {{Fact::Of, number(seen.stalls)},
								{Fact::LowNs, number(stall_ns)},
								{Fact::OtherBlocks, number(seen.others)},
								{Fact::OtherBlocksToo, number(seen.only_drops)}}};
}

} // namespace

std::optional<Finding> stalls_with_drops(const analysis::CellResult &cell, size_t index)
{
	std::optional<Finding> found = stalls_with(FindingId::SlowBesideDrops, cell, index, &Block::dropped);
	if (found) {
		found->evidence.push_back({Fact::Packets, number(cell.sockets.dropped())});
		found->evidence.push_back({Fact::AtFullBuffers, number(dropped_at_full_buffers(cell))});
	}
	return found;
}

std::optional<Finding> stalls_with_resends(const analysis::CellResult &cell, size_t index)
{
	std::optional<Finding> found = stalls_with(FindingId::SlowBesideResends, cell, index, &Block::retransmitted);
	if (found)
		found->evidence.push_back({Fact::Packets, number(cell.sockets.retransmitted())});
	return found;
}

std::optional<Finding> brought_by_next(const analysis::CellResult &cell, size_t index)
{
	constexpr uint64_t kLeast = 10; // messages; chance has one in ten of them
	const uint64_t after = cell.messages.after_next, with = cell.messages.with_next;
	if (with < kLeast || 2 * with < after)
		return std::nullopt;
	return Finding{.id = FindingId::CameWithNext,
				   .cell = index,
				   .value = number(with),
				   .evidence = {{Fact::Of, number(cell.messages.sent)}, {Fact::AfterNext, number(after)}}};
}

} // namespace icepath::explain
