// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who had a CPU while a thread waited for it.
#include <span>
#include <vector>

#include "profiler/path/observations.h"
#include "profiler/path/timeline.h"

namespace icepath::path {

// Shares out time in which a thread waited for a CPU. An interrupt on top of a task has its time, not the task. What no
// record gives to anybody is the idle CPU's where a record says so, else unknown.
class SharingOut {
public:
	explicit SharingOut(const Observations &seen) : seen_(seen) {}

	// Of [begin, end), within the time from which on `waiter` was runnable until it was switched in, which is what `off` ends
	// with. They add up to end - begin, each culprit once, in no order. Valid until the next call.
	std::span<const Share> of(const Thread &waiter, const OffCpu &off, uint64_t begin_ns, uint64_t end_ns);

private:
	struct Busy {
		uint64_t begin_ns = 0, end_ns = 0;
		uint32_t tid = 0;
		bool from_idle = false; // the CPU was idle until it began
		bool is_sure = true; // no record is missing that could have ended it earlier, and it is known when it began
		bool ends_untold = false; // no later than the next one begins
	};
	void add(const Culprit &who, uint64_t ns);
	void add_interrupt(const Cpu &cpu, const Carved &outer);
	void add_without_interrupts(const Culprit &who, uint64_t begin_ns, uint64_t end_ns);
	void find_busy(uint16_t cpu, uint64_t begin_ns, const Thread &waiter, const OffCpu &off);
	void add_first_runs(uint16_t cpu, uint64_t begin_ns, const Thread &waiter, const OffCpu &off);
	void share_cpu(uint16_t cpu, const Thread &waiter, const OffCpu &off, uint64_t begin_ns, uint64_t end_ns);
	void share_gap(const OffCpu &off, uint64_t idle_until_ns, uint64_t begin_ns, uint64_t end_ns);

	const Observations &seen_;
	std::vector<Share> shares_;
	std::vector<Busy> busy_; // of the CPU at hand
	std::vector<std::pair<uint64_t, uint64_t>> interrupted_; // likewise
};

// Who had at least half of it, or nobody.
Culprit culprit_of(std::span<const Share> shares);

} // namespace icepath::path
