// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is counted of the measuring thread while a block runs: migrations, and the hardware counters of perf_event_open(2).
//
// Counting mustn't disturb what is measured. A thread with a perf event, even a disabled one, takes longer to switch out
// and in (__perf_event_task_sched_out() has its context to look after): 1.5 µs a round trip of two threads on one CPU here,
// 3.5 µs with six software events enabled, and more where a PMU's registers must be written, each a VM exit on some hosts.
// So hardware counters exist only in blocks that are asked for with them: they are opened before such a block, count
// between start() and stop(), outside of the markers, and are closed after it. Latencies come from other blocks.
//
// Migrations come from /proc/thread-self/sched, which costs nothing while the block runs, and which ordinary users may
// read. The software event PERF_COUNT_SW_CPU_MIGRATIONS costs what every perf event costs; perf_event_paranoid, at the
// kernel's default of 2, denies it to them, and with exclude_kernel it is granted and stays 0 whatever happens.
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/channel.h"
#include "profiler/model/counters.h"

namespace icepath::worker {

// se.nr_migrations in the text of /proc/PID/sched; `error` ENODATA where it isn't there.
model::Count migrations_in(std::string_view text);
model::Count migrations_between(const model::Count &begin, const model::Count &end);

inline constexpr size_t kGroupMembers = 2;

// What read(2) of a group's leader gives: PERF_FORMAT_GROUP, TOTAL_TIME_ENABLED and TOTAL_TIME_RUNNING.
struct GroupReading {
	uint64_t members = 0, enabled_ns = 0, running_ns = 0;
	std::array<uint64_t, kGroupMembers> counted{};
};
// Member `which` of a group of `members` of which `bytes` were read.
model::Count count_of(const GroupReading &reading, size_t bytes, size_t members, size_t which);

class BlockCounters {
public:
	// Counts the thread that calls. None of it throws: what can't be counted says why by its errno. Tests on machines
	// without a PMU take software events (PERF_TYPE_SOFTWARE) of the same numbers instead.
	BlockCounters();
	explicit BlockCounters(uint32_t event_type);

	// In this order, once for each block.
	void prepare(bool hardware);
	void start();
	void stop();
	model::Counters take();

private:
	// Two events that are only worth something together share a group: they are on the CPU's counters at the same time.
	struct Group {
		std::array<const model::CounterField *, kGroupMembers> fields{};
		std::vector<Fd> events; // the leader first
		std::vector<const model::CounterField *> counted; // beside `events`
	};
	int open(const model::CounterField &field, const Group &group, bool user_only) const;
	void open(Group &group);
	model::Count migrations() const;

	const uint32_t event_type_;
	Fd sched_;
	int32_t sched_error_ = 0;
	model::Count migrations_before_;
	std::vector<Group> groups_; // none: hardware isn't asked for in this block
	model::Counters told_;
};

} // namespace icepath::worker
