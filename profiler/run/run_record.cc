// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "profiler/rundir/limits.h"

namespace icepath::run {

void RunRecord::add(const model::Window &window, std::span<const model::Block> blocks)
{
	if (!writer_)
		writer_ = std::make_unique<rundir::Writer>(directory_, head_);
	writer_->add(window, blocks);
	for (const model::Block &block : blocks)
		counted_[block.cell][window.probed] += counted_in(block);
}

void RunRecord::finish(model::Tail tail)
{
	if (is_full())
		tail.notices.push_back("the run ended before its time was up: its directory has reached the size limit");
	writer_->finish(tail);
}

bool RunRecord::has_messages() const
{
	return std::ranges::any_of(counted_, [](const auto &messages) { return messages[0] + messages[1] > 0; });
}

void Notices::add(const std::string &notice)
{
	constexpr size_t kMost = rundir::kMaxNotices - 1;
	if (std::ranges::find(all_, notice) != all_.end())
		return;
	if (all_.size() < kMost && more_ == 0)
		all_.push_back(notice);
	else
		all_.back() = fmt::format("and {} more notices that didn't fit", ++more_ + 1);
}

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
