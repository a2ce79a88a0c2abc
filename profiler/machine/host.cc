// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine/host.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

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

nlohmann::json mitigations()
{
	nlohmann::json all = nlohmann::json::object();
	std::error_code none;
	for (const auto &entry : std::filesystem::directory_iterator("/sys/devices/system/cpu/vulnerabilities", none))
		if (const std::string state = first_line(entry.path()); state != "Not affected")
			all[entry.path().filename()] = state;
	return all;
}

} // namespace

std::string first_line(const std::string &path)
{
	std::string line;
	std::ifstream file(path);
	std::getline(file, line);
	return line;
}

std::string describe_host(const privilege::Identity &user)
{
	utsname kernel{};
	uname(&kernel);
	nlohmann::json host = {
		{"hostname", kernel.nodename},
		{"kernel", kernel.release},
		{"kernel_version", kernel.version},
		{"preempt_rt", is_preempt_rt(kernel)},
		{"machine", kernel.machine},
		{"cpu_model", cpuinfo("model name")},
		{"cpus_online", sysconf(_SC_NPROCESSORS_ONLN)},
		{"memory_bytes", sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)},
		{"clocksource", first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource")},
		{"hypervisor", (" " + cpuinfo("flags") + " ").find(" hypervisor ") != std::string::npos},
		{"mitigations", mitigations()},
		{"user", user.name},
		{"plain_root", user.stays_root},
	};
	return host.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace icepath::machine
