// SPDX-License-Identifier: Apache-2.0
#pragma once
// The steps that keep a run quiet: each is done, or says why it isn't.
#include <cstdint>
#include <string>

namespace icepath::cpuset {

// How much is done. None: sides are pinned, nothing else.
enum class Level : uint8_t { None, Soft };
inline constexpr const char *kLevelNames[] = {"none", "soft"};

enum class StepState : uint8_t {
	Done,
	AlreadySo, // without icepath's doing
	NotPossible,
	Left, // not attempted: the machine's own setting stays
};
inline constexpr const char *kStepStateNames[] = {"done", "already_so", "not_possible", "left"};

struct Step {
	std::string name; // stable: "pinning", "idle_states", "memory"
	StepState state = StepState::Left;
	std::string found; // the result, or why it isn't possible
	std::string remedy; // empty: none is needed, or none is known
};

} // namespace icepath::cpuset
