// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/running_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "profiler/failure.h"
#include "profiler/privilege/own_child.h"

namespace icepath::privilege {
namespace {

constexpr uint64_t kIsKernelThread = 0x00200000; // PF_KTHREAD, include/linux/sched.h

// proc(5), /proc/PID/stat: the ninth field, the seventh after the name, which may contain anything.
std::optional<uint64_t> flags_of(pid_t pid)
{
	std::ifstream file(fmt::format("/proc/{}/stat", pid));
	std::string text;
	std::getline(file, text, '\0');
	std::istringstream rest(text.substr(text.rfind(')') + 1));
	std::string skipped;
	for (int i = 0; i < 6; i++)
		rest >> skipped;
	uint64_t flags = 0;
	return rest >> flags ? std::optional(flags) : std::nullopt;
}

std::optional<icepath_rights> rights_of(pid_t pid)
{
	icepath_rights rights{};
	std::ifstream file(fmt::format("/proc/{}/status", pid));
	int found = 0;
	for (std::string line; std::getline(file, line);) {
		std::istringstream rest(line);
		std::string name;
		rest >> name;
		if (name == "Uid:" || name == "Gid:") {
			for (uint32_t &id : name == "Uid:" ? rights.users : rights.groups)
				rest >> id;
			found += rest.fail() ? 0 : 1;
		} else if (name == "CapPrm:") {
			uint64_t permitted = 0;
			rest >> std::hex >> permitted;
			rights.capabilities = permitted;
			found += rest.fail() ? 0 : 1;
		}
	}
	return found == 3 ? std::optional(rights) : std::nullopt;
}

} // namespace

icepath_rights check_target(int pidfd, pid_t icepath)
{
	const auto pid = pid_of(pidfd);
	if (!pid)
		throw Failure(ExitCode::Internal, "a program to watch must be named by a pidfd");
	if (*pid == icepath || *pid == getpid())
		throw Failure(ExitCode::Usage, fmt::format("process {} is icepath itself, which doesn't watch itself", *pid));
	const auto flags = flags_of(*pid);
	const auto rights = rights_of(*pid);
	// If its number is still the same, it was that process's all along.
	if (*pid <= 0 || !flags || !rights || pid_of(pidfd) != pid)
		throw Failure(ExitCode::Usage, "a program to watch has ended");
	if ((*flags & kIsKernelThread) != 0)
		throw Failure(
			ExitCode::Usage,
			fmt::format("process {} is a thread of the kernel, which exchanges no messages by system calls", *pid));
	return *rights;
}

} // namespace icepath::privilege
