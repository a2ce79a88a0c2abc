// SPDX-License-Identifier: Apache-2.0
#pragma once
// What keeps a run quiet and changes nothing of the machine that outlives the run: CPUs that are kept awake in blocks, memory
// that stays where it is.
#include <optional>
#include <vector>

#include "cpuset/kept_awake.h"
#include "cpuset/step.h"

namespace icepath::cpuset {

class Soft {
public:
	// To be made while this process is root, where it ever is, and before it starts any that shall lock its memory.
	// `idle_states`: the machine's own stay. `stays_root`: workers will have root's rights.
	Soft(Level level, bool idle_states, bool stays_root);

	Level level() const { return level_; }
	KeptAwake *awake() { return awake_ && awake_->works() ? &*awake_ : nullptr; } // nullptr: CPUs idle as they will
	bool locks_memory() const { return memory_.state == StepState::Done; }
	std::vector<Step> steps() const;

private:
	const Level level_;
	std::optional<KeptAwake> awake_;
	Step memory_;
};

} // namespace icepath::cpuset
