// SPDX-License-Identifier: Apache-2.0
#pragma once
// Blocks made by hand whose messages all take the same known way over a socket, but for what a test adds to one of them:
//
//   0 send, 200 call, 1200 ready, 1500 waking, 1900 call returns,
//   2500 wakeup, 4000 + delay switched in, 5000 + delay taken, 5300 + delay recv
//
// so sender.user 200, sender.kernel 1000, its notify 300, wakeup 1000, runqueue 1500 + delay, receiver.kernel 1000,
// receiver.user 300: 5300 + delay nanoseconds.
#include <functional>
#include <string>

#include "profiler/model/block.h"
#include "profiler/model/run.h"

namespace icepath::report {

inline constexpr uint64_t kPlainNs = 5300;
inline constexpr uint32_t kTids[2] = {100, 200};
inline constexpr uint32_t kHog = 4711;

struct BlockPlan {
	uint32_t cell = 0, round = 0;
	bool probed = false;
	uint64_t messages = 100; // counted ones, in each direction that the pattern has; two warm-up messages come before
	// What is added to message `seq` of side `from` between its wakeup and its switch-in, while kHog has the CPU.
	std::function<uint64_t(uint64_t seq, size_t from)> delay_ns = [](uint64_t, size_t) { return 0; };
};

model::Cell socket_cell(model::Pattern pattern);
// Without messages.
model::Block block_of(size_t flows);
model::Block make_block(const model::Cell &cell, const BlockPlan &plan);

// Two cells, pingpong and oneway of uds-stream, as many probed as unprobed blocks each in ABBA order. The probed block of round 6 of
// the pingpong cell has one answer that the hog delayed by 381 µs. Fewer than five blocks tell no p99: that takes kEnoughRounds.
model::Head small_head();
inline constexpr uint32_t kEnoughRounds = 12;
void write_small_run(const std::string &directory, bool finish = true, uint32_t rounds = 8);

} // namespace icepath::report
