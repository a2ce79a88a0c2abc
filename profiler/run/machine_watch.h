// SPDX-License-Identifier: Apache-2.0
#pragma once
// Observes the machine from before a run's first block until after its last, for the report.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/model/window.h"
#include "profiler/run/cache_line.h"

namespace icepath::run {

class MachineWatch {
public:
	// Measures the idle machine, before the run's first block; takes kWakesNs and more. `budget_s`: of the run.
	MachineWatch(std::vector<uint32_t> cpus, double budget_s);
	const std::vector<model::CpuWake> &wakes_before() const { return wakes_before_; }
	void look_if_due() { lines_.look_if_due(); } // between blocks
	void add_steal_of(const model::Window &window);
	// Measures again, and fills the tail's fields about the machine.
	void describe(model::Tail &tail);

private:
	const std::vector<uint32_t> cpus_; // of all cells
	const std::vector<model::CpuWake> wakes_before_;
	const std::vector<model::InterruptCount> untraced_before_;
	CacheLines lines_;
	std::optional<model::Steal> steal_;
};

} // namespace icepath::run
