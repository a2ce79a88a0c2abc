// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which CPUs there are and what they share, from sysfs and procfs.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cpuset/cpulist.h"

namespace icepath::cpuset {

struct Cpu {
	uint32_t number = 0;
	uint32_t package = 0;
	CpuList siblings; // the CPUs of its core, itself included
	CpuList llc; // the CPUs that share its last-level cache, itself included; itself alone if unknown
	uint32_t capacity = 1024; // cpu_capacity: compares fast and slow cores; 1024 if all are equal
	bool isolated = false; // no load balancing: isolcpus=domain or an isolated cpuset partition
	bool nohz_full = false;
	bool allowed = false; // this process may run there
	std::string governor; // empty: no cpufreq
	std::optional<uint32_t> idle_exit_us; // the deepest idle state's exit latency; none: no idle states
};

// An interrupt that has a handler.
struct Irq {
	uint32_t number = 0;
	std::string name;
	CpuList cpus; // where it is delivered; if the kernel doesn't say: where it may be
};

struct Machine {
	std::vector<Cpu> cpus; // online, by number; never empty
	CpuList present; // offline ones included
	CpuList affinity; // of this process when it was read
	std::vector<Irq> irqs;
	std::string clocksource;
	bool hypervisor = false;
	bool can_stop_tick = false; // the kernel has CONFIG_NO_HZ_FULL
	int64_t rt_runtime_us = -1, rt_period_us = 0; // runtime -1: real-time tasks are never throttled

	const Cpu *find(uint32_t number) const; // nullptr: not online
	CpuList online() const;
	bool throttles_real_time() const;
};

// Where this process may run. A CPU isolated by isolcpus= is in no default affinity but may be chosen, so what cpusets
// permit is found separately, by setting the affinity of a short-lived thread.
struct Permission {
	CpuList affinity;
	CpuList permitted; // by cgroup cpusets
};
Permission read_permission();

// `root` is put before every path, so that tests can read the trees of other machines. Throws Failure(MachineCannot) if
// the list of online CPUs can't be read; anything else that is missing has the default above.
Machine read_machine(const Permission &permission, const std::string &root = "");

} // namespace icepath::cpuset
