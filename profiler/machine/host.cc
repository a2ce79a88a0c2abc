// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine/host.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace icepath::machine {
namespace {

std::string cpuinfo(const std::string &field)
{
	std::ifstream file("/proc/cpuinfo");
	for (std::string line; std::getline(file, line);)
		if (line.starts_with(field))
			return line.substr(std::min(line.size(), line.find(':') + 2));
	return "";
}

std::vector<std::pair<std::string, std::string>> mitigations()
{
	std::vector<std::pair<std::string, std::string>> all;
	std::error_code none;
	for (const auto &entry : std::filesystem::directory_iterator("/sys/devices/system/cpu/vulnerabilities", none))
		if (const std::string state = first_line(entry.path()); state != "Not affected")
			all.emplace_back(entry.path().filename(), state);
	std::ranges::sort(all);
	return all;
}

uint64_t bytes_of_memory()
{
	return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

std::string first_line(const std::string &path)
{
	std::string line;
	std::ifstream file(path);
	std::getline(file, line);
	return line;
}

model::Host describe_host(const privilege::Identity &user)
{
	utsname kernel{};
	uname(&kernel);
	return {.hostname = kernel.nodename,
			.kernel = kernel.release,
			.kernel_version = kernel.version,
			.machine = kernel.machine,
			.cpu_model = cpuinfo("model name"),
			.clocksource = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
			.user = user.name,
			.cpus_online = static_cast<uint64_t>(sysconf(_SC_NPROCESSORS_ONLN)),
			.memory_bytes = bytes_of_memory(),
			.preempt_rt = is_preempt_rt(kernel),
			.hypervisor = (" " + cpuinfo("flags") + " ").find(" hypervisor ") != std::string::npos,
			// Only such a kernel has the file (drivers/base/cpu.c), and it has RCU_NOCB_CPU, too (kernel/time/Kconfig).
			.nohz_full = std::filesystem::exists("/sys/devices/system/cpu/nohz_full"),
			.plain_root = user.stays_root,
			.fifo = {}, // as far as the command tried
			.fifo_of_middleware = {},
			.mitigations = mitigations()};
}

model::Isolation describe_isolation(const cpuset::Isolation &isolation)
{
	using cpuset::Level, cpuset::StepState, model::IsolationLevel, model::IsolationState;
	static_assert(static_cast<int>(Level::Full) == static_cast<int>(IsolationLevel::Full) &&
				  static_cast<int>(StepState::Left) == static_cast<int>(IsolationState::Left));
	const cpuset::Choice &choice = isolation.choice;
	model::Isolation told{
		.sender_cpu = choice.sender,
		.receiver_cpu = choice.receiver,
		.housekeeping_cpus = cpuset::format_cpulist(choice.housekeeping),
		.daemon_cpus = cpuset::format_cpulist(choice.daemons.empty() ? choice.housekeeping : choice.daemons),
		.why = choice.why,
		.level = isolation.steps.empty() ? std::nullopt : std::optional(static_cast<IsolationLevel>(isolation.level)),
		.steps = {},
		.items = std::vector<model::Disturbance>()};
	for (const cpuset::Step &step : isolation.steps)
		told.steps.push_back({step.name, static_cast<IsolationState>(step.state), step.found, step.remedy});
	for (const cpuset::IsolationItem &item : isolation.items)
		told.items->push_back({item.name, item.quiet, item.found, item.effect, item.remedy});
	return told;
}

} // namespace icepath::machine
