// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/followed_messages.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "profiler/analysis/known_paths.h"
#include "profiler/model/graph.h"
#include "profiler/model/stamps.h"
#include "profiler/path/observations.h"
#include "profiler/path/timeline.h"

namespace icepath::analysis {
namespace {

WorstMessage worst_message(const path::Path &path, const path::Delivery &delivery, const path::Observations &seen,
						   const model::Block &block, const model::Cell &cell)
{
	WorstMessage worst = followed(path, seen);
	worst.cell = block.cell;
	worst.round = block.window->round;
	const model::MessagePlace place = model::place_of(delivery.message);
	worst.back = !model::begins(cell, cell.graph.flows.at(place.flow).from);
	worst.seq = place.seq;
	return worst;
}

// Of messages that take equally long, the earlier one comes first.
void insert_by_latency(WorstMessage message, std::vector<WorstMessage> &slowest)
{
	const auto place = std::ranges::upper_bound(slowest, message.latency_ns(), std::ranges::greater(),
												[](const WorstMessage &one) { return one.latency_ns(); });
	slowest.insert(place, std::move(message));
	slowest.resize(std::min(slowest.size(), FollowedMessages::kSlowest));
}

} // namespace

WorstMessage followed(const path::Path &path, const path::Observations &seen)
{
	WorstMessage worst;
	const auto remember = [&](uint32_t tid) {
		if (const auto name = seen.task_names.find(tid); name != seen.task_names.end())
			worst.task_names.insert(*name);
		if (const auto thread = seen.threads.find(tid); thread != seen.threads.end())
			worst.task_names[tid] = thread->second.name;
	};
	for (const path::Segment &segment : path.segments) {
		const auto thread = seen.threads.find(segment.thread);
		worst.cpus.push_back(thread == seen.threads.end() ? std::nullopt
														  : path::cpu_at(thread->second, segment.begin.at_ns));
		remember(segment.thread);
		if (segment.culprit.kind == path::Culprit::Kind::Task)
			remember(segment.culprit.id);
	}
	for (const auto *shares : {&path.shares, &path.late_wakers})
		for (const path::Share &share : *shares)
			if (share.who.kind == path::Culprit::Kind::Task)
				remember(share.who.id);
	worst.path = path;
	return worst;
}

void FollowedMessages::add_slow(const resolve::ResolvedBlock &resolved, const model::Cell &cell)
{
	for (size_t i = 0; i < resolved.paths.size(); ++i) {
		const path::Path &path = resolved.paths[i];
		if (is_known(path) && (slowest.size() < kSlowest || path.recv_ns - path.send_ns > slowest.back().latency_ns()))
			insert_by_latency(worst_message(path, resolved.seen.deliveries[i], resolved.seen, resolved.block, cell),
							  slowest);
	}
}

void FollowedMessages::add_asked(const resolve::ResolvedBlock &resolved, const model::Cell &cell,
								 const MessageName &name)
{
	constexpr size_t kMost = 64;
	if (name.round != resolved.block.window->round)
		return;
	for (size_t i = 0; i < resolved.paths.size() && asked.size() < kMost; ++i) {
		const path::Delivery &delivery = resolved.seen.deliveries[i];
		if (model::place_of(delivery.message).seq != name.seq)
			continue;
		WorstMessage message = worst_message(resolved.paths[i], delivery, resolved.seen, resolved.block, cell);
		if (message.back == name.back)
			asked.push_back(std::move(message));
	}
}

} // namespace icepath::analysis
