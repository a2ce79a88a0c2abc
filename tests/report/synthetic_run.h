// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hand-made blocks. All messages take the same known way over a socket, except for delays that a test adds:
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

namespace icepath {

inline constexpr uint64_t kPlainNs = 5300;
inline constexpr uint32_t kTids[2] = {100, 200};
inline constexpr uint32_t kHog = 4711;

struct BlockPlan {
	uint32_t cell = 0, round = 0;
	bool probed = false;
	uint64_t begins_ns = 1'000'000'000; // the first message
	uint64_t messages = 100; // counted messages in each direction; two warm-up messages precede them
	// Delay of message `seq` of side `from` between its wakeup and its switch-in, while kHog has the CPU.
	std::function<uint64_t(uint64_t seq, size_t from)> delay_ns = [](uint64_t, size_t) { return 0; };
};

model::Cell socket_cell(model::Pattern pattern);
// Without messages.
model::Block block_of(size_t flows);
model::Block make_block(const model::Cell &cell, const BlockPlan &plan);

// A probed block as a sampled one: each message has a sample 700 ns after its send, in the sender's kernel, where one
// of `one_in` is in kmalloc and the others are in sock_sendmsg itself, which calls kmalloc; one 1100 ns after it, when
// interrupts were off, so that unlock was found 1300 ns after it; and one 200 ns before its recv, in the receiver's
// user.
model::Block with_samples(const model::Block &block, uint64_t one_in = 4);

// A sampled block, with the stack of each sleep and of its waker: a receiver sleeps in unix_stream_read_generic or,
// every third time, in a page fault; its waker is in sock_sendmsg. The probe's frames are at the stacks' ends.
model::Block with_sleep_stacks(const model::Block &block);

// Two cells of uds-stream, pingpong and oneway, with as many probed as unprobed blocks in ABBA order. The probed block
// of round 6 of the pingpong cell has one answer that the hog delayed by 381 µs. A p99 takes five blocks, and so
// kEnoughRounds.
model::Head small_head();
inline constexpr uint32_t kEnoughRounds = 12;
// `apart_ns`: from one block to the next; 0: all begin at the same time.
void write_small_run(const std::string &directory, bool finish = true, uint32_t rounds = 8, uint64_t apart_ns = 0);

} // namespace icepath
