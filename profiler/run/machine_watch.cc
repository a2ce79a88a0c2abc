// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/machine_watch.h"

#include <utility>

#include "profiler/capture/untraced_interrupts.h"
#include "profiler/run/machine_state.h"

namespace icepath::run {

MachineWatch::MachineWatch(std::vector<uint32_t> cpus, double budget_s)
	: cpus_(std::move(cpus)), wakes_before_(measure_wakes(cpus_)),
	  untraced_before_(capture::untraced_interrupts(cpus_)), lines_(cpus_, budget_s)
{
	lines_.look();
}

void MachineWatch::add_steal_of(const model::Window &window)
{
	if (!window.steal_ns)
		return;
	steal_ = steal_.value_or(model::Steal{});
	steal_->ns += *window.steal_ns;
	steal_->of_ns += cpus_.size() * (window.finish.monotonic_ns - window.begin.monotonic_ns);
}

void MachineWatch::describe(model::Tail &tail)
{
	lines_.look();
	tail.cache_lines = lines_.all();
	tail.wakes = measure_wakes(cpus_);
	tail.steal = steal_;
	tail.untraced_interrupts = capture::counted_since(untraced_before_, capture::untraced_interrupts(cpus_));
}

} // namespace icepath::run
