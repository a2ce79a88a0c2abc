// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the machine is like from before a run's first block to after its last: what the report says of it beside the latencies.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/model/window.h"
#include "profiler/run/cache_line.h"

namespace icepath::run {

class MachineWatch {
public:
	// Measures what can be measured with nothing of the run going on; that takes kWakesNs and more. `budget_s`: of the run.
	MachineWatch(std::vector<uint32_t> cpus, double budget_s);
	const std::vector<model::CpuWake> &wakes_before() const { return wakes_before_; }
	void look_if_due() { lines_.look_if_due(); } // between blocks
	void add_steal_of(const model::Window &window);
	// Measures again, and fills all of the tail that is of the machine.
	void describe(model::Tail &tail);

private:
	const std::vector<uint32_t> cpus_; // of all cells
	const std::vector<model::CpuWake> wakes_before_;
	const std::vector<model::InterruptCount> untraced_before_;
	CacheLines lines_;
	std::optional<model::Steal> steal_;
};

} // namespace icepath::run
