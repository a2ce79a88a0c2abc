// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/ipc_namespace.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <utility>
#include <vector>

namespace icepath::privilege {
namespace {

// A new namespace starts with the kernel's defaults, but a benchmark measures the machine as its owner has set it up.
constexpr std::array<const char *, 8> kLimits = {
	"/proc/sys/kernel/msgmax",         "/proc/sys/kernel/msgmnb",
	"/proc/sys/kernel/msgmni",         "/proc/sys/fs/mqueue/queues_max",
	"/proc/sys/fs/mqueue/msg_max",     "/proc/sys/fs/mqueue/msgsize_max",
	"/proc/sys/fs/mqueue/msg_default", "/proc/sys/fs/mqueue/msgsize_default",
};

std::string read_limit(const char *path)
{
	std::string value;
	std::ifstream file(path);
	std::getline(file, value);
	return value;
}

bool write_limit(const char *path, const std::string &value)
{
	std::ofstream file(path);
	file << value << std::flush;
	return file.good();
}

} // namespace

std::optional<std::string> enter_own_ipc_namespace()
{
	std::vector<std::pair<const char *, std::string>> host;
	for (const char *path : kLimits)
		host.emplace_back(path, read_limit(path));
	if (unshare(CLONE_NEWIPC))
		return fmt::format("the run has no IPC namespace of its own ({}): if it is killed with SIGKILL, it may leave "
						   "System V queues behind (ipcs -q lists them, ipcrm -q removes one)",
						   std::strerror(errno));
	std::string others;
	// An empty value: the kernel has no such limit.
	for (const auto &[path, value] : host)
		if (!value.empty() && read_limit(path) != value && !write_limit(path, value))
			others += fmt::format("{}{} (here {}, on the host {})", others.empty() ? "" : ", ", path, read_limit(path),
								  value);
	if (!others.empty())
		return fmt::format("message queues were measured with limits that aren't the host's: {}", others);
	return std::nullopt;
}

} // namespace icepath::privilege
