// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/leftover_groups.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/selftest/cpu_hierarchy.h"

namespace icepath::selftest {

std::vector<std::string> take_back_leftover_groups()
{
	std::vector<std::string> problems;
	CpuHierarchy hierarchy;
	try {
		hierarchy = find_cpu_hierarchy();
	} catch (const Failure &) {
		return problems; // no selftest could make any
	}
	std::error_code error;
	std::vector<std::filesystem::path> groups;
	for (std::filesystem::directory_iterator entry(hierarchy.path, error), end; !error && entry != end;
		 entry.increment(error))
		if (entry->path().filename().string().starts_with(kGroupPrefix))
			groups.push_back(entry->path());
	for (const std::filesystem::path &path : groups) {
		const Fd group(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
		if (!group || flock(group.get(), LOCK_EX | LOCK_NB))
			continue;
		if (rmdir(path.c_str()) && errno != ENOENT)
			problems.push_back(fmt::format("the control group {} of a selftest that was killed can't be removed: {}{}",
										   path.string(), std::strerror(errno),
										   errno == EBUSY ? ". End the processes in its cgroup.procs" : ""));
	}
	return problems;
}

} // namespace icepath::selftest
