// SPDX-License-Identifier: Apache-2.0
#include "profiler/calibrate/calibrate.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "cpuset/affinity.h"
#include "icepath/plugin.h"
#include "profiler/calibrate/queues.h"
#include "profiler/calibrate/watchpoints.h"
#include "profiler/failure.h"
#include "profiler/stats/percentile.h"

namespace icepath::calibrate {
namespace {

constexpr uint32_t kWarmUp = 5; // uncounted messages of a block

// The sending and the taking calls of a block.
using Calls = std::array<std::vector<WatchedCall>, 2>;

WatchedCall timed(const std::function<bool(uint64_t)> &call, uint64_t bytes, const Queue &queue,
				  Watchpoints &watchpoints)
{
	WatchedCall timed;
	watchpoints.forget_hits();
	timed.begin_ns = icepath_now_ns();
	const bool done = call(bytes);
	timed.end_ns = icepath_now_ns();
	if (!done)
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot pass {} B through {} to calibrate: {}", bytes,
														   queue.target, std::strerror(errno)));
	const auto hits = watchpoints.hits_ns();
	timed.hits_ns.assign(hits.begin(), hits.end());
	return timed;
}

Calls exchange(const Queue &queue, uint64_t bytes, uint32_t messages, Watchpoints &watchpoints)
{
	Calls calls;
	for (uint32_t i = 0; i < kWarmUp + messages; i++) {
		WatchedCall sent = timed(queue.send, bytes, queue, watchpoints);
		WatchedCall taken = timed(queue.take, bytes, queue, watchpoints);
		if (i < kWarmUp)
			continue;
		calls[0].push_back(std::move(sent));
		calls[1].push_back(std::move(taken));
	}
	return calls;
}

double median_ns(const std::vector<WatchedCall> &calls)
{
	std::vector<double> took;
	for (const WatchedCall &call : calls)
		took.push_back(static_cast<double>(call.end_ns - call.begin_ns));
	return std::max(1.0, stats::median(took));
}

// How often the sending and the taking call hit the word.
std::array<size_t, 2> hits_of(const Queue &queue, uint64_t bytes, const Pass &pass, Watchpoints &watchpoints)
{
	watchpoints.enable(true);
	const Calls calls = exchange(queue, bytes, pass.messages, watchpoints);
	return {usual_hits(calls[0]), usual_hits(calls[1])};
}

std::optional<CalibratedSize> place_size(const Queue &queue, uint64_t bytes, const Pass &pass, Watchpoints &watchpoints)
{
	const std::array<size_t, 2> hits = hits_of(queue, bytes, pass, watchpoints);
	if (hits[0] == 0 || hits[1] == 0)
		return {};
	const std::array<Hit, 2> meant = {queue.ready, queue.taken};
	std::array<std::vector<WatchedBlock>, 2> blocks;
	for (uint32_t pair = 0; pair < pass.blocks / 2; pair++) {
		std::array<WatchedBlock, 2> of_pair;
		for (const bool watched : {pair % 2 != 0, pair % 2 == 0}) {
			watchpoints.enable(watched);
			Calls calls = exchange(queue, bytes, pass.messages, watchpoints);
			for (size_t end = 0; end < calls.size(); end++) {
				if (!watched) {
					of_pair[end].bare_ns = median_ns(calls[end]);
					continue;
				}
				of_pair[end].cost = watchpoints.cost_of(number_of(meant[end], hits[end]), hits[end]);
				of_pair[end].calls = std::move(calls[end]);
			}
		}
		for (size_t end = 0; end < of_pair.size(); end++)
			blocks[end].push_back(std::move(of_pair[end]));
	}
	watchpoints.enable(false);
	const auto ready = place(blocks[0], meant[0], hits[0]), taken = place(blocks[1], meant[1], hits[1]);
	if (!ready || !taken)
		return {};
	return CalibratedSize{bytes, *ready, *taken};
}

CalibratedTarget place_target(const Queue &queue, const Pass &pass, Watchpoints &watchpoints)
{
	CalibratedTarget target{queue.target, {}, ""};
	try {
		watchpoints.watch(queue.watched, queue.ends.front().get());
		for (const uint64_t bytes : queue.sizes) {
			if (const auto size = place_size(queue, bytes, pass, watchpoints))
				target.sizes.push_back(*size);
			else
				target.why_not =
					fmt::format("with {} B the calls changed the watched word a varying number of times", bytes);
		}
	} catch (const Failure &failure) {
		target.why_not = failure.what();
	}
	return target;
}

} // namespace

std::vector<CalibratedTarget> calibrate(const Pass &pass)
{
	if (const auto problem = cpuset::pin(0, pass.cpu))
		throw Failure(ExitCode::MachineCannot, *problem);
	std::vector<char> memory(kMostBytes, 'i');
	Watchpoints watchpoints;
	std::vector<CalibratedTarget> targets;
	for (const Queue &queue : make_queues(memory.data()))
		targets.push_back(place_target(queue, pass, watchpoints));
	return targets;
}

} // namespace icepath::calibrate
