// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/cpu_hierarchy.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "profiler/failure.h"

namespace icepath::selftest {
namespace {

bool has_word(const std::string &text, const std::string &wanted, char separator)
{
	std::istringstream words(text);
	for (std::string word; std::getline(words, word, separator);)
		if (word == wanted)
			return true;
	return false;
}

std::string first_line(const std::string &path)
{
	std::ifstream file(path);
	std::string line;
	std::getline(file, line);
	return line;
}

} // namespace

CpuHierarchy find_cpu_hierarchy()
{
	std::ifstream mounts("/proc/self/mounts");
	for (std::string line; std::getline(mounts, line);) {
		std::istringstream fields(line);
		std::string device, folder, type, options;
		fields >> device >> folder >> type >> options;
		if (type == "cgroup2" && has_word(first_line(folder + "/cgroup.subtree_control"), "cpu", ' '))
			return {folder, true};
		if (type == "cgroup" && has_word(options, "cpu", ','))
			return {folder, false};
	}
	throw Failure(ExitCode::MachineCannot, "no mounted hierarchy of control groups has the cpu controller for groups");
}

std::string group_of(pid_t process, const CpuHierarchy &hierarchy)
{
	std::ifstream groups(fmt::format("/proc/{}/cgroup", process));
	for (std::string line; std::getline(groups, line);) {
		const size_t first = line.find(':'), second = line.find(':', first + 1);
		if (second == std::string::npos)
			continue;
		const std::string controllers = line.substr(first + 1, second - first - 1);
		if (hierarchy.v2 ? controllers.empty() : has_word(controllers, "cpu", ','))
			return line.substr(second + 1);
	}
	return {};
}

} // namespace icepath::selftest
