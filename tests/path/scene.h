// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hand-made timelines, and the text form of their expected path.
#include <string>

#include "ebpf/records.h"
#include "profiler/path/walk.h"

namespace icepath::path {

inline constexpr uint32_t kSender = 10, kReceiver = 20, kForeign = 99;
inline constexpr uint16_t kSenderCpu = 0, kReceiverCpu = 1;

// One message from kSender to kReceiver. Members that a test doesn't set are empty.
struct Scene {
	Scene();

	Transfer &transfer() { return seen.transfers.front(); }
	Thread &thread(uint32_t tid) { return seen.threads.at(tid); }
	Thread &add_thread(uint32_t tid, uint16_t cpu);
	Transfer &add_transfer(uint32_t from, uint32_t to);

	// A sleep ended by the task `waker`; returned so that a test can change the rest.
	OffCpu &sleep(uint32_t tid, uint64_t out, uint64_t waking, uint64_t wakeup, uint64_t in, uint32_t waker);
	OffCpu &preempt(uint32_t tid, uint64_t out, uint64_t in);
	void call(uint32_t tid, uint64_t begin, uint64_t end);
	void foreign_run(uint16_t cpu, uint64_t in, uint64_t out, uint32_t tid = kForeign);
	uint32_t interrupt(uint16_t cpu, uint64_t begin, uint64_t end, uint8_t kind = ICEPATH_INTERRUPT_TIMER,
					   uint32_t vector = 236);

	Path path() const { return walk(seen, delivery); }
	// "0:sender.user 10
	// 0:sender.kernel 20
	// 1:preempted 5 by 99": hop, layer, part, length, culprit. A "~" marks a segment whose end is inferred, a "'" one
	// whose end is paired. An incomplete path is shown as its reason.
	std::string text() const;

	Observations seen;
	Delivery delivery;

private:
	uint32_t next_record_ = 100;
};

Mark at(uint64_t ns);
std::string text_of(const Path &path);
// "runqueue: 99 5, idle 30": each segment with shares, and each culprit's part.
std::string shares_of(const Path &path);

} // namespace icepath::path
