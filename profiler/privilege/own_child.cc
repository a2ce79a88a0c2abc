// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/own_child.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "profiler/channel.h"
#include "profiler/failure.h"

namespace icepath::privilege {
namespace {

// The first numbers in a named field of a file under /proc.
template <size_t N> std::optional<std::array<int64_t, N>> proc_field(const std::string &path, std::string_view field)
{
	std::ifstream file(path);
	for (std::string line; std::getline(file, line);) {
		if (!line.starts_with(field))
			continue;
		std::istringstream rest(line.substr(field.size()));
		std::array<int64_t, N> numbers{};
		for (int64_t &number : numbers)
			if (!(rest >> number))
				return std::nullopt;
		return numbers;
	}
	return std::nullopt;
}

std::optional<int64_t> proc_number(const std::string &path, std::string_view field)
{
	const auto found = proc_field<1>(path, field);
	return found ? std::optional(found->front()) : std::nullopt;
}

bool is_only(const std::string &status, uid_t user)
{
	// The real, effective, saved and file system ids.
	const auto users = proc_field<4>(status, "Uid:"), groups = proc_field<4>(status, "Gid:");
	return users && groups && std::ranges::all_of(*users, [&](int64_t id) { return id == int64_t{user}; }) &&
		   std::ranges::all_of(*groups, [&](int64_t id) { return id == groups->front(); });
}

} // namespace

bool may_be_traced(pid_t pid)
{
	return Fd(open(fmt::format("/proc/{}/auxv", pid).c_str(), O_RDONLY | O_CLOEXEC)).get() >= 0;
}

std::optional<gid_t> group_of(pid_t pid)
{
	const auto group = proc_number(fmt::format("/proc/{}/status", pid), "Gid:");
	return group ? std::optional(static_cast<gid_t>(*group)) : std::nullopt;
}

std::optional<pid_t> pid_of(int fd)
{
	// pidfd_show_fdinfo(); no other kind of file has this line.
	const auto pid = proc_number(fmt::format("/proc/self/fdinfo/{}", fd), "Pid:");
	return pid ? std::optional(static_cast<pid_t>(*pid)) : std::nullopt;
}

pid_t check_own_child(int pidfd, pid_t icepath, uid_t user)
{
	// A child keeps its process id until icepath reaps it, which happens only after the cell is closed. A thread's id
	// is free as soon as it ends: if its pidfd still reports the id after everything was read, the thread had it all
	// along. A thread has its process's parent (copy_process, CLONE_THREAD).
	const auto pid = pid_of(pidfd);
	const std::string status = fmt::format("/proc/{}/status", pid.value_or(-1));
	if (!pid || *pid <= 0 || proc_number(status, "PPid:") != icepath || !is_only(status, user) || pid_of(pidfd) != pid)
		throw Failure(ExitCode::Internal, "the root helper touches only workers of the icepath that started it");
	return *pid;
}

} // namespace icepath::privilege
