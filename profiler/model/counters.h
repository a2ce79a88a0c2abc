// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the kernel and the CPU counted of one side's measuring thread in a block, and which counts can be used. Plain
// data, as a worker reports it and the run directory stores it.
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

namespace icepath::model {

inline constexpr int32_t kNotAsked = -1;

struct Count {
	int32_t error = kNotAsked; // 0: counted; else an errno with the reason, or kNotAsked
	uint64_t counted = 0;      // unscaled
	// Hardware only: how long the counter was enabled, and how long of that the CPU had a counter for it.
	uint64_t enabled_ns = 0, running_ns = 0;
};

struct Counters {
	Count migrations; // set_task_cpu() moved it to another CPU
	Count cycles, instructions, cache_references, cache_misses, branches, branch_misses;
	uint32_t user_only = 0; // of the hardware counters; 1: the kernel allowed user mode only
};

// Keys in the run directory and in run.json.
struct CounterField {
	const char *key;
	Count Counters::*count;
	bool hardware;
	bool always_moves; // grows in every running thread, so 0 means that the counter isn't there
};
inline constexpr CounterField kCounterFields[] = {
	{"migrations", &Counters::migrations, false, false},
	{"cycles", &Counters::cycles, true, true},
	{"instructions", &Counters::instructions, true, true},
	{"cache_references", &Counters::cache_references, true, false},
	{"cache_misses", &Counters::cache_misses, true, false},
	{"branches", &Counters::branches, true, true},
	{"branch_misses", &Counters::branch_misses, true, false},
};
static_assert(std::size(kCounterFields) * sizeof(Count) + sizeof(uint64_t) == sizeof(Counters), "each has its name");

// Bound of believable counts: at 10 GHz, a day of cycles. A block takes seconds.
inline constexpr uint64_t kMostCounted = 1'000'000'000'000'000;

bool can_be_true(const Count &count, const CounterField &field);

// A worker's report with every count that can't be true replaced by EPROTO, and hardware counts dropped where none were
// asked for.
Counters believable(Counters counted, bool hardware_asked);

// Open hardware counters make every context switch longer, whatever they counted.
inline bool hardware_was_on(const Counters &counters)
{
	for (const CounterField &field : kCounterFields)
		if (field.hardware && (counters.*field.count).error == 0)
			return true;
	return false;
}

// 0 where the count can be used, else the reason, as in Count::error: EBUSY where it never had a hardware counter,
// ENODATA where it stood still.
int32_t absence(const Count &count, const CounterField &field);

// Estimate for a counter that counted all the time: counted * enabled / running (perf_event_open(2)). Nothing where the
// count is absent.
std::optional<double> scaled(const Count &count, const CounterField &field);

// The reason as a sentence without its full stop.
std::string why_absent(int32_t error, bool hardware);

} // namespace icepath::model
