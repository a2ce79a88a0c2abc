// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine/watch.h"

#include <ctime>
#include <utility>

#include "profiler/capture/untraced_interrupts.h"
#include "profiler/machine/wakes.h"

namespace icepath::machine {
namespace {

std::optional<uint64_t> time_of(clockid_t clock)
{
	timespec used{};
	if (clock_gettime(clock, &used))
		return std::nullopt;
	return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

std::optional<uint64_t> difference(std::optional<uint64_t> before, std::optional<uint64_t> after)
{
	return before && after && *after >= *before ? std::optional(*after - *before) : std::nullopt;
}

} // namespace

Watch::Watch(std::vector<uint32_t> cpus, double budget_s, std::function<void(int pidfd)> admit)
	: cpus_(std::move(cpus)), admit_(std::move(admit)), wakes_before_(measure_wakes(cpus_, admit_)),
	  untraced_before_(capture::untraced_interrupts(cpus_)), lines_(cpus_, budget_s)
{
	lines_.look();
}

void Watch::add_steal_of(const model::Window &window)
{
	if (!window.steal_ns)
		return;
	steal_ = steal_.value_or(model::Steal{});
	steal_->ns += *window.steal_ns;
	steal_->of_ns += cpus_.size() * (window.finish.monotonic_ns - window.begin.monotonic_ns);
}

void Watch::describe(model::Tail &tail)
{
	lines_.look();
	tail.cache_lines = lines_.all();
	tail.wakes = measure_wakes(cpus_, admit_);
	tail.steal = steal_;
	tail.untraced_interrupts = capture::counted_since(untraced_before_, capture::untraced_interrupts(cpus_));
}

BlockCost::BlockCost(const std::vector<uint32_t> &cpus, pid_t helper)
	: cpus_(cpus), helper_(helper), steal_before_ns_(steal_ns(cpus)), own_before_ns_(own_cpu_ns())
{}

std::optional<uint64_t> BlockCost::own_cpu_ns() const
{
	clockid_t of_helper{};
	// Any process may read this clock: pid_for_clock() only looks the pid up in the caller's namespace.
	if (helper_ <= 0 || clock_getcpuclockid(helper_, &of_helper))
		return std::nullopt;
	const auto own = time_of(CLOCK_PROCESS_CPUTIME_ID), helper = time_of(of_helper);
	return own && helper ? std::optional(*own + *helper) : std::nullopt;
}

void BlockCost::add_to(model::Window &window) const
{
	window.own_cpu_ns = difference(own_before_ns_, own_cpu_ns());
	window.steal_ns = difference(steal_before_ns_, steal_ns(cpus_));
}

} // namespace icepath::machine
