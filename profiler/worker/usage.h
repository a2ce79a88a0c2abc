// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a block used: getrusage(2), migrations and hardware counters.
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/channel.h"
#include "profiler/model/block.h"
#include "profiler/model/counters.h"

namespace icepath::worker {

// What the calling thread, or its whole process, has used by the kernel's accounts.
rusage usage_now(bool of_process);
model::Usage usage_between(const rusage &begin, const rusage &end);

// Counts of one thread during a block: migrations, and the hardware counters of perf_event_open(2).
//
// Counting mustn't disturb latencies. A thread with a perf event, even a disabled one, takes longer to switch out and
// in (__perf_event_task_sched_out() handles its context): 1.5 µs per round trip of two threads on one CPU here, 3.5 µs
// with six enabled software events, and more if a PMU's registers must be written, each a VM exit on some hosts. So
// hardware counters exist only in blocks that ask for them: they are opened before the block, count between start() and
// stop(), outside the markers, and are closed after it. Latencies come from other blocks.
//
// Migrations come from the thread's file sched below /proc, which costs nothing during the block, and which ordinary
// users may read. The software event PERF_COUNT_SW_CPU_MIGRATIONS costs as much as any perf event. perf_event_paranoid
// denies it to ordinary users at the kernel's default of 2; with exclude_kernel it is granted, but stays 0.
//
// se.nr_migrations in the text of /proc/PID/sched; `error` is ENODATA if it isn't there.
model::Count migrations_in(std::string_view text);
model::Count migrations_between(const model::Count &begin, const model::Count &end);

inline constexpr size_t kGroupMembers = 2;

// Result of read(2) on a group's leader: PERF_FORMAT_GROUP, TOTAL_TIME_ENABLED and TOTAL_TIME_RUNNING.
struct GroupReading {
	uint64_t members = 0, enabled_ns = 0, running_ns = 0;
	std::array<uint64_t, kGroupMembers> counted{};
};
// Count of member `which`, in a group of `members`, from a reading of `bytes` bytes.
model::Count count_of(const GroupReading &reading, size_t bytes, size_t members, size_t which);

class BlockCounters {
public:
	// Counts the calling thread. Never throws: a count that isn't possible has an errno. Tests on machines without a
	// PMU use software events (PERF_TYPE_SOFTWARE) with the same numbers.
	BlockCounters();
	explicit BlockCounters(uint32_t event_type);

	// From the next block on counts this thread of the process; 0: it isn't known yet, so each count has ESRCH.
	void count_thread(pid_t tid);

	// Call them in this order, once for each block.
	void prepare(bool hardware);
	void start();
	void stop();
	model::Counters take();

private:
	// Two events that are useful only together share a group: the kernel schedules them at the same time.
	struct Group {
		std::array<const model::CounterField *, kGroupMembers> fields{};
		std::vector<Fd> events; // the leader first
		std::vector<const model::CounterField *> counted; // parallel to `events`
	};
	int open(const model::CounterField &field, const Group &group, bool user_only) const;
	void open(Group &group);
	model::Count migrations() const;

	const uint32_t event_type_;
	pid_t tid_ = 0; // 0: no thread
	Fd sched_;
	int32_t sched_error_ = 0;
	model::Count migrations_before_;
	std::vector<Group> groups_; // empty: this block has no hardware counters
	model::Counters told_;
};

} // namespace icepath::worker
