// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/block_glance.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace icepath::run {

double block_p50_us(const model::Block &block)
{
	std::vector<uint64_t> latencies;
	const auto &sends = block.flows[0].sends;
	for (const model::RecvStamp &recv : block.flows[0].recvs)
		if (recv.seq < sends.size() && sends[recv.seq].seq == recv.seq && recv.recv_ns > sends[recv.seq].send_ns)
			latencies.push_back(recv.recv_ns - sends[recv.seq].send_ns);
	if (latencies.empty())
		return 0;
	std::nth_element(latencies.begin(), latencies.begin() + static_cast<ptrdiff_t>(latencies.size() / 2),
					 latencies.end());
	return static_cast<double>(latencies[latencies.size() / 2]) / 1e3;
}

uint64_t counted_in(const model::Block &block)
{
	const auto &recvs = block.flows[0].recvs;
	return static_cast<uint64_t>(std::count_if(recvs.begin(), recvs.end(), [](const model::RecvStamp &recv) {
		return (recv.flags & model::kStampWarmUp) == 0;
	}));
}

} // namespace icepath::run
