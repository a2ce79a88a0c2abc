// SPDX-License-Identifier: Apache-2.0
#pragma once
// What may disturb a measurement on the chosen CPUs, and what can't: read, never changed.
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cpuset/choose.h"

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
	std::vector<IsolationItem> items;
};

Isolation look_at_isolation(const Machine &machine, const Choice &choice);

// { "sender_cpu", "receiver_cpu", "housekeeping_cpus", "why", "items": [ {"name", "quiet", "found", "effect", "remedy"} ] }
nlohmann::json to_json(const Isolation &isolation);

} // namespace icepath::cpuset
