// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a cause comes from: from the cell that was measured, or from elsewhere.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/path/observations.h"

namespace icepath::analysis {

enum class Origin : uint8_t {
	OwnWork, // softirqs that handled the cell's own packets
	OwnThread, // threads of its sides, libraries and daemons, and the kernel's on their behalf
	OwnTimer, // what a thread or a socket of the cell had set: a sleep, a retransmission, pacing
	Tick, // the scheduler's tick, and the softirqs that it raises
	OthersInterrupt,
	OthersTask,
	OtherTarget, // a thread of another cell of the run: of a side, its library, its daemon, or what these started
	Limit, // of a control group
	IdleCpu,
	Unknown,
};
// Words for programs.
inline constexpr std::array<std::string_view, 10> kOriginIds = {
	"own_work", "own_thread", "own_timer", "tick", "interrupt", "task", "other_target", "limit", "idle_cpu", "unknown"};
// What reports call it, where it isn't named after a thread or an interrupt.
inline constexpr std::array<std::string_view, 10> kOriginWords = {
	"its own packets",  "a thread of its own",        "its own timer",   "the scheduler's tick", "others' interrupt",
	"a task of others", "another target of this run", "a control group", "the idle CPU",         "no record tells"};

// The same of several.
inline constexpr std::array<std::string_view, 10> kOriginWordsOfMany = {
	"its own packets", "threads of its own",        "its own timers", "the scheduler's tick", "others' interrupts",
	"tasks of others", "other targets of this run", "control groups", "the idle CPU",         "no record tells"};

constexpr std::string_view id(Origin origin) { return kOriginIds[static_cast<size_t>(origin)]; }
constexpr std::string_view word(Origin origin) { return kOriginWords[static_cast<size_t>(origin)]; }

constexpr std::string_view words_of_many(Origin origin) { return kOriginWordsOfMany[static_cast<size_t>(origin)]; }

constexpr bool is_own(Origin origin) { return origin <= Origin::OwnTimer; }

// `who` isn't None. `slept`: it ended a sleep, and had no CPU.
Origin origin_of(const path::Culprit &who, bool slept, const path::Observations &seen);

// A name in which numbers don't count, so that threads of one kind are one: "worker-*" of "worker-12".
std::string without_numbers(std::string_view name);

} // namespace icepath::analysis
