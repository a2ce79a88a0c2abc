// SPDX-License-Identifier: Apache-2.0
#pragma once
// What was done to keep the run's CPUs quiet, step by step: each is told as done, or why it isn't.
#include <cstdint>
#include <string>

namespace icepath::cpuset {

// How much is done. None: the sides are pinned, and nothing else is.
enum class Level : uint8_t { None, Soft };
inline constexpr const char *kLevelNames[] = {"none", "soft"};

enum class StepState : uint8_t {
	Done,
	AlreadySo, // without icepath
	NotPossible,
	Left, // as the machine has it: nobody asked for it
};
inline constexpr const char *kStepStateNames[] = {"done", "already_so", "not_possible", "left"};

struct Step {
	std::string name; // stable: "pinning", "idle_states", "memory"
	StepState state = StepState::Left;
	std::string found; // what is so now, or why it couldn't be
	std::string remedy; // empty where there is nothing to mend, or no remedy
};

} // namespace icepath::cpuset
