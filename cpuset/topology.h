// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which CPUs there are and what they share, from sysfs and procfs.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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
	std::vector<std::pair<uint32_t, uint64_t>> came = {}; // CPU, and how often since boot; empty: unknown
	std::string fixed = {}; // why it can't be moved; empty: it can, or nobody tried (isolation::find_fixed())

	uint64_t came_to(uint32_t cpu) const; // 0 if it is unknown
};

// A deadline server that keeps a part of each CPU for ordinary tasks, in the place of the limit on real-time tasks
// (commits d741f297bcea and 5f6bd380c7bd of Linux 6.12). debugfs: sched/fair_server/cpuN/{runtime,period}.
inline constexpr const char *kFairServers = "/sys/kernel/debug/sched/fair_server";
struct FairServer {
	uint64_t runtime_ns = 50'000'000, period_ns = 1'000'000'000; // as the kernel starts it; runtime 0: it is off
};

// What real-time tasks leave to ordinary ones.
struct RealTimeLimit {
	double kept_ms = 0, period_ms = 0; // ordinary tasks may have so much of each period
	bool by_sysctl = false, by_fair_server = false; // kernel.sched_rt_runtime_us, the fair server, or both
};

struct Machine {
	std::vector<Cpu> cpus; // online, by number; never empty
	CpuList present; // offline ones included
	CpuList affinity; // of this process when it was read
	std::vector<Irq> irqs;
	double up_s = 0; // since boot
	std::string clocksource;
	bool hypervisor = false;
	bool can_stop_tick = false; // the kernel has CONFIG_NO_HZ_FULL
	int64_t rt_runtime_us = -1, rt_period_us = 0; // of /proc/sys/kernel/sched_rt_*; runtime -1: no limit
	bool has_rt_groups = false; // CONFIG_RT_GROUP_SCHED, where a control group shows it
	bool has_fair_server = false; // since Linux 6.12
	std::vector<FairServer> fair_servers; // by `cpus`; empty: debugfs isn't mounted, or not for this process

	const Cpu *find(uint32_t number) const; // nullptr: not online
	CpuList online() const;
	std::optional<RealTimeLimit> real_time_limit() const; // nothing: real-time tasks are never throttled
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
