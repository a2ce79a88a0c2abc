// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/socket_use.h"

#include <algorithm>

#include "profiler/model/graph.h"

namespace icepath::analysis {
namespace {

// The one that is alike, or a new one.
model::SocketGroup &group_like(const model::SocketGroup &group, std::vector<model::SocketGroup> &groups)
{
	const auto at = std::ranges::find_if(groups, [&](const auto &one) { return one.is_alike(group); });
	if (at != groups.end())
		return *at;
	model::SocketGroup &made = groups.emplace_back(group);
	made.count = 0;
	made.dropped = made.retransmitted = 0;
	return made;
}

} // namespace

void SocketUse::add(const model::Block &block, const model::Cell &cell, const BlockMessages &seen)
{
	if (!block.sockets)
		return;
	std::array<std::vector<model::SocketGroup>, 2> of_block; // several sides may be of one end
	for (model::SocketGroup group : block.sockets->groups) {
		const size_t end = model::begins(cell, group.side) ? 0 : 1;
		group.side = 0;
		for (auto *groups : {&of_block[end], &ends[end].groups}) {
			model::SocketGroup &sum = group_like(group, *groups);
			sum.send_buffer.add(group.send_buffer);
			sum.receive_buffer.add(group.receive_buffer);
			sum.dropped += group.dropped;
			sum.retransmitted += group.retransmitted;
		}
		group_like(group, of_block[end]).count += group.count;
	}
	for (size_t end = 0; end < ends.size(); ++end)
		for (const model::SocketGroup &group : of_block[end]) {
			uint32_t &most = group_like(group, ends[end].groups).count;
			most = std::max(most, group.count);
		}
	loopback_mtu = std::max(loopback_mtu, block.sockets->loopback_mtu);
	if (block.sockets->counts)
		model::add_counts(*block.sockets->counts, counts ? *counts : counts.emplace());
	Block &told = blocks.emplace_back(Block{0, block.sockets->dropped(), block.sockets->retransmitted()});
	for (const std::vector<uint64_t> &flow : seen.latencies.by_flow)
		for (const uint64_t ns : flow)
			told.longest_ns = std::max(told.longest_ns, ns);
}

uint64_t SocketUse::dropped() const
{
	uint64_t sum = 0;
	for (const Block &block : blocks)
		sum += block.dropped;
	return sum;
}

uint64_t SocketUse::retransmitted() const
{
	uint64_t sum = 0;
	for (const Block &block : blocks)
		sum += block.retransmitted;
	return sum;
}

} // namespace icepath::analysis
