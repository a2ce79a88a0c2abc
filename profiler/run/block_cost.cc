// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/block_cost.h"

#include <ctime>

#include "profiler/run/machine_state.h"

namespace icepath::run {
namespace {

std::optional<uint64_t> read(clockid_t clock)
{
	timespec used{};
	if (clock_gettime(clock, &used))
		return std::nullopt;
	return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

std::optional<uint64_t> since(std::optional<uint64_t> before, std::optional<uint64_t> after)
{
	return before && after && *after >= *before ? std::optional(*after - *before) : std::nullopt;
}

} // namespace

BlockCost::BlockCost(const std::vector<uint32_t> &cpus, pid_t helper)
	: cpus_(cpus), helper_(helper), steal_before_ns_(steal_ns(cpus)), own_before_ns_(own_cpu_ns())
{}

std::optional<uint64_t> BlockCost::own_cpu_ns() const
{
	clockid_t of_helper{};
	// Any process may read this clock: pid_for_clock() only looks the pid up in the caller's namespace.
	if (helper_ <= 0 || clock_getcpuclockid(helper_, &of_helper))
		return std::nullopt;
	const auto own = read(CLOCK_PROCESS_CPUTIME_ID), helper = read(of_helper);
	return own && helper ? std::optional(*own + *helper) : std::nullopt;
}

void BlockCost::add_to(model::Window &window) const
{
	window.own_cpu_ns = since(own_before_ns_, own_cpu_ns());
	window.steal_ns = since(steal_before_ns_, steal_ns(cpus_));
}

} // namespace icepath::run
