// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the kernel and the CPU counted of one side's measuring thread in a block, and what of it can be believed. Plain
// data, as a worker tells it and as the run directory keeps it.
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

namespace icepath::model {

inline constexpr int32_t kNotAsked = -1;

struct Count {
	int32_t error = kNotAsked; // 0: it was counted; else the errno that says why not
	uint64_t counted = 0;      // unscaled
	uint64_t enabled_ns = 0,
			 running_ns = 0; // hardware: how long it was to count, and how long it had a counter to do so
};

struct Counters {
	Count migrations; // times that set_task_cpu() gave it another CPU
	Count cycles, instructions, cache_references, cache_misses, branches, branch_misses;
	uint32_t user_only = 0; // the hardware's: 1 where the kernel allowed no more than user mode
};

// Their names in the run directory and in run.json.
struct CounterField {
	const char *key;
	Count Counters::*count;
	bool hardware;
	bool always_moves; // whoever runs makes it grow, so a 0 is a counter that isn't there
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

// At 10 GHz it takes a day to count so much; a block takes seconds.
inline constexpr uint64_t kMostCounted = 1'000'000'000'000'000;

bool can_be_true(const Count &count, const CounterField &field);

// What a worker told, where hardware was asked for or wasn't: counts that can't be true are absent by EPROTO.
Counters believable(Counters counted, bool hardware_asked);

// Whether hardware counters were open, which makes every context switch longer, whatever they came to count.
inline bool hardware_was_on(const Counters &counters)
{
	for (const CounterField &field : kCounterFields)
		if (field.hardware && (counters.*field.count).error == 0)
			return true;
	return false;
}

// 0 where the count can be used, else why not, as in Count::error: EBUSY where it never had a counter, ENODATA where it
// stood still.
int32_t absence(const Count &count, const CounterField &field);

// What would have been counted with a counter all the time: counted * enabled / running, as perf_event_open(2) has it.
// Nothing where the count is absent.
std::optional<double> scaled(const Count &count, const CounterField &field);

// A sentence without its full stop.
std::string why_absent(int32_t error, bool hardware);

} // namespace icepath::model
