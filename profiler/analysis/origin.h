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

constexpr std::string_view id(Origin origin) { return kOriginIds[static_cast<size_t>(origin)]; }
constexpr bool is_own(Origin origin) { return origin <= Origin::OwnTimer; }

// Whose a thread of Origin::OwnThread is.
enum class Owner : uint8_t {
	None, // no such thread
	Side, // it sends or receives itself
	Library, // of a side's process
	Daemon,
	Kernel,
};
Owner owner_of(uint32_t tid, const path::Observations &seen);

// `who` isn't None. `slept`: it ended a sleep, and had no CPU.
Origin origin_of(const path::Culprit &who, bool slept, const path::Observations &seen);

// A name in which numbers don't count, so that threads of one kind are one: "worker-*" of "worker-12".
std::string without_numbers(std::string_view name);

} // namespace icepath::analysis
