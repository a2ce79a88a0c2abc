// SPDX-License-Identifier: Apache-2.0
#pragma once
// Soft isolation, whose changes end with the run: CPUs are kept awake in blocks, and workers' memory is locked.
#include <optional>
#include <vector>

#include "cpuset/kept_awake.h"
#include "cpuset/step.h"

namespace icepath::cpuset {

class Soft {
public:
	// Construct it while this process is still root, and before it starts processes that will lock their memory.
	// `idle_states`: keep the machine's own idle states. `stays_root`: workers will have root's rights.
	Soft(Level level, bool idle_states, bool stays_root);

	Level level() const { return level_; }
	KeptAwake *awake() { return awake_ && awake_->works() ? &*awake_ : nullptr; } // nullptr: it isn't done
	bool locks_memory() const { return memory_.state == StepState::Done; }
	std::vector<Step> steps() const;

private:
	const Level level_;
	std::optional<KeptAwake> awake_;
	Step memory_;
};

} // namespace icepath::cpuset
