// SPDX-License-Identifier: Apache-2.0
#pragma once
// What may disturb a measurement on the chosen CPUs, and what was done about it. Only reads.
#include <string>
#include <vector>

#include "cpuset/choose.h"
#include "cpuset/step.h"

namespace icepath::cpuset {

struct IsolationItem {
	std::string name; // stable: "other_tasks", "timer_tick", "interrupts", "smt_sibling", "frequency", "idle_states",
		// "rt_throttling", "hypervisor", "clock", "housekeeping"
	bool quiet = false; // true: it can't disturb
	std::string found; // what the machine shows
	std::string effect; // on latency; empty if quiet
	std::string remedy; // how to change it; empty if quiet, or if nothing can be done
};

struct Isolation {
	Choice choice;
	Level level = Level::None;
	std::vector<Step> steps; // empty: nobody told what was done
	std::vector<IsolationItem> items;
};

Isolation look_at_isolation(const Machine &machine, const Choice &choice, Level level = Level::None,
							const std::vector<Step> &steps = {});

} // namespace icepath::cpuset
