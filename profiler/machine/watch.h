// SPDX-License-Identifier: Apache-2.0
#pragma once
// Observes the machine from before a run's first block until after its last, for the report.
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "profiler/machine/cache_line.h"
#include "profiler/model/run.h"
#include "profiler/model/window.h"

namespace icepath::machine {

class Watch {
public:
	// Measures the idle machine, before the run's first block; takes kWakesNs and more. `budget_s`: of the run.
	// `admit`: of measure_wakes().
	Watch(std::vector<uint32_t> cpus, double budget_s, std::function<void(int pidfd)> admit);
	const std::vector<model::CpuWake> &wakes_before() const { return wakes_before_; }
	void look_if_due() { lines_.look_if_due(); } // between blocks
	void add_steal_of(const model::Window &window);
	// Measures again, and fills the tail's fields about the machine.
	void describe(model::Tail &tail);

private:
	const std::vector<uint32_t> cpus_; // of all cells
	const std::function<void(int pidfd)> admit_;
	const std::vector<model::CpuWake> wakes_before_;
	const std::vector<model::InterruptCount> untraced_before_;
	CacheLines lines_;
	std::optional<model::Steal> steal_;
};

// CPU time that the hypervisor and icepath itself took during a block. Counts from its construction to add_to(). If the
// helper has ended, icepath's own CPU time is unknown.
class BlockCost {
public:
	BlockCost(const std::vector<uint32_t> &cpus, pid_t helper);
	void add_to(model::Window &window) const; // steal_ns, own_cpu_ns

private:
	std::optional<uint64_t> own_cpu_ns() const; // of icepath and its helper, since they started

	const std::vector<uint32_t> &cpus_;
	const pid_t helper_;
	const std::optional<uint64_t> steal_before_ns_, own_before_ns_;
};

} // namespace icepath::machine
