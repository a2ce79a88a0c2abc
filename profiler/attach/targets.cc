// SPDX-License-Identifier: Apache-2.0
#include "profiler/attach/targets.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "profiler/failure.h"
#include "profiler/model/printable.h"

namespace icepath::attach {
namespace {

std::string text_of(const std::string &path)
{
	std::ifstream file(path);
	std::string text;
	std::getline(file, text, '\0');
	return text;
}

std::string name_of(pid_t process)
{
	std::string name = text_of(fmt::format("/proc/{}/comm", process));
	if (!name.empty() && name.back() == '\n')
		name.pop_back();
	return name;
}

// Of /proc/PID/stat, counted from 1 as in proc(5): from the third on.
uint64_t field_of(pid_t process, int field)
{
	const std::string text = text_of(fmt::format("/proc/{}/stat", process));
	std::istringstream rest(text.substr(text.rfind(')') + 1)); // the name may contain anything
	std::string skipped;
	for (int i = 3; i < field; i++)
		rest >> skipped;
	uint64_t value = 0;
	rest >> value;
	return value;
}

pid_t parent_of(pid_t process)
{
	constexpr int kParent = 4;
	return static_cast<pid_t>(field_of(process, kParent));
}

uint64_t ns_of(clockid_t clock)
{
	timespec now{};
	clock_gettime(clock, &now);
	return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// By CLOCK_MONOTONIC. The kernel counts ticks of CLOCK_BOOTTIME, which also runs while the machine sleeps.
uint64_t start_of(pid_t process)
{
	constexpr int kStart = 22;
	const uint64_t ticks = field_of(process, kStart);
	const uint64_t since_boot_ns = ticks * (1'000'000'000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK)));
	const uint64_t asleep_ns = ns_of(CLOCK_BOOTTIME) - ns_of(CLOCK_MONOTONIC);
	return since_boot_ns > asleep_ns ? since_boot_ns - asleep_ns : 0;
}

// The auxiliary vector of a 64-bit program begins with a small number of 64 bits (getauxval(3)).
bool is_32_bit(pid_t process)
{
	std::ifstream file(fmt::format("/proc/{}/auxv", process), std::ios::binary);
	std::array<uint32_t, 2> first{};
	return sizeof(void *) == 8 && file.read(reinterpret_cast<char *>(first.data()), sizeof(first)) && first[0] != 0 &&
		   first[1] != 0;
}

Failure not_opened(pid_t process, int why)
{
	const std::string group = text_of(fmt::format("/proc/{}/status", process));
	const auto line = group.find("Tgid:");
	if (why != ESRCH && line != std::string::npos)
		return {ExitCode::Usage, fmt::format("{} is a thread of process {}: name that, and all of its threads are "
											 "watched",
											 process, std::atoi(group.c_str() + line + 5))};
	if (why == ESRCH || why == EINVAL)
		return {ExitCode::Usage, fmt::format("there is no process {}", process)};
	return {ExitCode::MachineCannot, fmt::format("process {} can't be opened: {}", process, std::strerror(why))};
}

} // namespace

std::vector<OpenTarget> open_targets(const std::vector<pid_t> &processes)
{
	std::vector<OpenTarget> targets;
	for (const pid_t process : processes) {
		OpenTarget &target = targets.emplace_back();
		target.pidfd = pidfd_of(process);
		if (!target.pidfd)
			throw not_opened(process, errno);
		target.target = {static_cast<uint32_t>(process), model::printable(name_of(process)), start_of(process)};
		if (is_32_bit(process))
			throw Failure(ExitCode::Usage,
						  fmt::format("{} (process {}) is a 32-bit program, whose system calls have other numbers: "
									  "these can't be followed",
									  target.target.name, process));
		if (has_ended(target)) // what was read may be of another process
			throw Failure(ExitCode::Usage, fmt::format("process {} has ended", process));
	}
	return targets;
}

std::vector<pid_t> processes_named(const std::string &pattern, pid_t own)
{
	std::map<pid_t, pid_t> parents; // of those that match
	std::error_code error;
	for (const auto &entry : std::filesystem::directory_iterator("/proc", error)) {
		const std::string number = entry.path().filename();
		if (number.find_first_not_of("0123456789") != std::string::npos)
			continue;
		const auto process = static_cast<pid_t>(std::strtol(number.c_str(), nullptr, 10));
		if (process != getpid() && process != own && fnmatch(pattern.c_str(), name_of(process).c_str(), 0) == 0)
			parents[process] = parent_of(process);
	}
	std::vector<pid_t> first;
	for (const auto &[process, parent] : parents) {
		pid_t above = parent;
		while (above > 1 && !parents.contains(above))
			above = parent_of(above);
		if (!parents.contains(above))
			first.push_back(process);
	}
	if (first.empty())
		throw Failure(ExitCode::Usage, fmt::format("no process is named {}", model::printable(pattern)));
	return first;
}

bool has_ended(const OpenTarget &target)
{
	pollfd look{target.pidfd.get(), POLLIN, 0};
	return poll(&look, 1, 0) == 1;
}

} // namespace icepath::attach
