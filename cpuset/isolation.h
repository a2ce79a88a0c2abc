// SPDX-License-Identifier: Apache-2.0
#pragma once
// What may disturb a measurement on the chosen CPUs, and what was done about it. Only reads.
#include <cstdint>
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

// Since boot, to all of these CPUs.
uint64_t came_to(const Irq &irq, const CpuList &cpus);
// Those that are delivered to one of the CPUs; the busiest there first.
std::vector<const Irq *> irqs_of(const Machine &machine, const CpuList &cpus);
// `times` since boot are more than one a minute; less is practically never.
bool is_often(uint64_t times, const Machine &machine);
// Or it is unknown how often it came.
bool comes_often(const Irq &irq, const Machine &machine, const CpuList &cpus);

// Where to measure if another CPU has to stay with the machine: of those that this process may use, the one to which
// interrupts that can't be moved come least, and then all interrupts; of several the last, for the first takes work
// that has no other place.
uint32_t lone_cpu(const Machine &machine);
std::string alone_on(uint32_t cpu); // "--cpus 1,1 (…)"

// For the kernel's command line. isolcpus= steers only those interrupts that the kernel manages itself.
std::string isolating_parameters(const Machine &machine, const CpuList &cpus);

Isolation look_at_isolation(const Machine &machine, const Choice &choice, Level level = Level::None,
							const std::vector<Step> &steps = {});

} // namespace icepath::cpuset
