// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cells of icepath as benchmarks use them: a ping-pong, and the round trips of its blocks from side 0's own stamps.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/plan/plan.h"
#include "profiler/run/live_cell.h"
#include "profiler/run/middleware.h"

namespace icepath::bench {

inline constexpr uint64_t kPayloadBytes = 64;

// A benchmark doesn't become the invoking user, so its helper takes workers that are the same user as itself.
privilege::Identity as_oneself();

struct CpuPair {
	uint32_t initiator = 0, responder = 0;
};

struct PingPong {
	std::string target;
	model::Wait wait = model::Wait::Block;
	decltype(plan::Wishes::qos) qos{};
	uint64_t bytes = kPayloadBytes;
};

// `number`: unique among the cells of this process. `middleware`: where adapters run; nullptr: in this process's
// namespaces. Throws Failure.
std::unique_ptr<run::LiveCell> open_ping_pong(const std::vector<targets::Target> &targets, const PingPong &what,
											  CpuPair cpus, uint32_t number, uint32_t max_messages,
											  const privilege::SlotsView &slots, privilege::Helper &helper,
											  run::Middleware *middleware = nullptr);

// Of the counted messages. Throws Failure where the block has none.
std::vector<double> round_trips_ns(const model::Block &block);

// Not of nothing.
double median(std::vector<double> values);
double mean(const std::vector<double> &values);

} // namespace icepath::bench
