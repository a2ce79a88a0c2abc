// SPDX-License-Identifier: Apache-2.0
#pragma once
// The steps that keep a run quiet: each is done, or says why it isn't.
#include <cstdint>
#include <string>

namespace icepath::cpuset {

// How much is done. None: sides are pinned, nothing else. Soft: changes that end with the run (soft.h). Full: the
// machine keeps its own work off the run's CPUs as well (profiler/isolation/full.h).
enum class Level : uint8_t { None, Soft, Full };
inline constexpr const char *kLevelNames[] = {"none", "soft", "full"};

enum class StepState : uint8_t {
	Done,
	AlreadySo, // without icepath's doing
	NotPossible,
	Left, // not attempted: the machine's own setting stays
};
inline constexpr const char *kStepStateNames[] = {"done", "already_so", "not_possible", "left"};

struct Step {
	// Stable: "pinning", "idle_states", "memory"; of full also "partition", "interrupts", "workqueues", "statistics",
	// "watchdog", "resume_latency", "frequency"; the limits of `--tune`; and "library_threads", of middleware.
	std::string name;
	StepState state = StepState::Left;
	std::string found; // the result, or why it isn't possible
	std::string remedy; // empty: none is needed, or none is known

	friend bool operator==(const Step &, const Step &) = default;
};

} // namespace icepath::cpuset
