// SPDX-License-Identifier: Apache-2.0
#include "cpuset/fifo.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "profiler/failure.h"

namespace icepath::cpuset {

namespace {

// Tried, and taken back at once.
bool may_run_fifo(int priority)
{
	sched_param fifo{}, before{};
	fifo.sched_priority = priority;
	const int policy = sched_getscheduler(0);
	sched_getparam(0, &before);
	if (sched_setscheduler(0, SCHED_FIFO, &fifo))
		return false;
	sched_setscheduler(0, policy, &before);
	return true;
}

std::string limiting_setting(const Machine &machine)
{
	return machine.has_fair_server ? fmt::format("echo 50000000 >{}/cpuN/runtime", kFairServers)
								   : "sysctl kernel.sched_rt_runtime_us=950000";
}

} // namespace

FifoRights fifo_rights(bool stays_root)
{
	rlimit before{};
	if (getrlimit(RLIMIT_RTPRIO, &before))
		return {};
	const rlimit limit{std::max<rlim_t>(before.rlim_cur, 2), std::max<rlim_t>(before.rlim_max, 2)};
	const bool is_raised = setrlimit(RLIMIT_RTPRIO, &limit) == 0;
	const bool may = may_run_fifo(1);
	setrlimit(RLIMIT_RTPRIO, &before);
	return {may && (is_raised || stays_root), may && is_raised};
}

void allow_fifo(int priority, bool stays_root)
{
	const auto refuse = [&](const char *what) {
		throw Failure(
			ExitCode::MachineCannot,
			fmt::format("--sched: no process may run under SCHED_FIFO with priority {} here ({}: {}): give root "
						"CAP_SYS_NICE and CAP_SYS_RESOURCE, and this control group real-time runtime "
						"(cpu.rt_runtime_us), if it has a limit",
						priority, what, std::strerror(errno)));
	};
	const auto highest = static_cast<rlim_t>(std::min(priority + 1, sched_get_priority_max(SCHED_FIFO)));
	const rlimit limit{highest, highest};
	if (setrlimit(RLIMIT_RTPRIO, &limit) && !stays_root)
		refuse("setrlimit");
	if (!may_run_fifo(priority))
		refuse("sched_setscheduler");
}

std::optional<std::string> fifo_without_sleep(const Machine &machine, const std::vector<uint32_t> &cpus)
{
	const bool takes_all = std::ranges::all_of(
		machine.cpus, [&](const Cpu &cpu) { return std::ranges::find(cpus, cpu.number) != cpus.end(); });
	const std::optional<RealTimeLimit> limit = machine.real_time_limit();
	if (!limit && takes_all)
		throw Failure(ExitCode::MachineCannot,
					  "--sched fifo: sides that never sleep would take every CPU, and nothing else would run, because "
					  "no setting of the kernel limits real-time tasks: leave a CPU out (--cpus), or set a limit (" +
						  limiting_setting(machine) + ")");
	if (!limit)
		return std::nullopt;
	return fmt::format(
		"under SCHED_FIFO, the kernel would stop sides that never sleep for up to {} of every {} ms, once "
		"they have run for {} ({}): a notice of each such cell says whether they lost their CPUs",
		limit->kept_ms, limit->period_ms, limit->period_ms - limit->kept_ms,
		limit->by_sysctl ? "kernel.sched_rt_runtime_us" : "the fair server of the kernel");
}

} // namespace icepath::cpuset
