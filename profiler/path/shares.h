// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which task or interrupt had a CPU while a thread waited for it.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "profiler/path/observations.h"

namespace icepath::path {

struct Carved;

// Attributes the time in which a thread waited for a CPU. An interrupt on top of a task counts, not the task. Time that
// no record attributes is the idle CPU's if a record says so, otherwise unknown.
class SharingOut {
public:
	explicit SharingOut(const Observations &seen) : seen_(seen) {}

	// Attributes [begin, end), which lies between the waiter's becoming runnable and the switch-in that ends `off`. The
	// shares add up to end - begin, each culprit once, in no order. Valid until the next call.
	std::span<const Share> of(const Thread &waiter, const OffCpu &off, uint64_t begin_ns, uint64_t end_ns);

private:
	struct Busy {
		uint64_t begin_ns = 0, end_ns = 0;
		uint32_t tid = 0;
		bool from_idle = false; // the CPU was idle until it began
		bool is_sure = true; // its begin is known, and no missing record could have ended it earlier
		bool ends_untold = false; // ends at the latest when another thread has the CPU
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
	std::vector<Busy> busy_; // of the current CPU
	std::vector<std::pair<uint64_t, uint64_t>> interrupted_; // likewise
};

// The culprit with at least half of the time, or none.
Culprit culprit_of(std::span<const Share> shares);

// "kworker/1:2", "interrupt 24", "NET_RX softirq", "idle CPU".
std::string culprit_name(const Culprit &culprit, const std::map<uint32_t, std::string> &task_names);

} // namespace icepath::path
