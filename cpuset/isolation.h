// SPDX-License-Identifier: Apache-2.0
#pragma once
// What may disturb a measurement on the chosen CPUs, and what can't: read, never changed. And what was done about it.
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cpuset/choose.h"
#include "cpuset/step.h"

namespace icepath::cpuset {

struct IsolationItem {
	std::string name; // stable: "other_tasks", "timer_tick", "interrupts", "smt_sibling", "frequency", "idle_states",
		// "rt_throttling", "hypervisor", "clock", "housekeeping"
	bool quiet = false; // true: this can't disturb
	std::string found; // what was seen
	std::string effect; // what it does to latency; empty where quiet
	std::string remedy; // how to change it; empty where quiet or where nothing can be done
};

struct Isolation {
	Choice choice;
	Level level = Level::None;
	std::vector<Step> steps; // empty: not told
	std::vector<IsolationItem> items;
};

Isolation look_at_isolation(const Machine &machine, const Choice &choice, Level level = Level::None,
							const std::vector<Step> &steps = {});

// { "sender_cpu", "receiver_cpu", "housekeeping_cpus", "why", "level", "steps": [ {"name", "state", "found", "remedy"} ],
//   "items": [ {"name", "quiet", "found", "effect", "remedy"} ] }; without steps no "level" and no "steps"
nlohmann::json to_json(const Isolation &isolation);

} // namespace icepath::cpuset
