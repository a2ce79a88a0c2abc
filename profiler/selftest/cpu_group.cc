// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/cpu_group.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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

bool write_to(const std::string &path, const std::string &text)
{
	std::ofstream file(path);
	return file.is_open() && (file << text).flush().good();
}

} // namespace

// Below the root of the hierarchy: a group of v2 that has processes, as this one's has, can have none with controllers below it.
void CpuGroup::find_place()
{
	std::ifstream mounts("/proc/self/mounts");
	for (std::string line; std::getline(mounts, line);) {
		std::istringstream fields(line);
		std::string device, folder, type, options;
		fields >> device >> folder >> type >> options;
		const bool v2 = type == "cgroup2" && has_word(first_line(folder + "/cgroup.subtree_control"), "cpu", ' ');
		if (!v2 && !(type == "cgroup" && has_word(options, "cpu", ',')))
			continue;
		v2_ = v2;
		root_ = folder;
		return;
	}
	throw Failure(ExitCode::MachineCannot, "no mounted hierarchy of control groups has the cpu controller for groups");
}

CpuGroup::CpuGroup(uint64_t quota_us, uint64_t period_us)
{
	find_place();
	folder_ = fmt::format("{}/icepath-selftest-{}", root_, getpid());
	if (mkdir(folder_.c_str(), 0755))
		throw Failure(ExitCode::MachineCannot, fmt::format("{} can't be made: {}", folder_, std::strerror(errno)));
	const bool done = v2_ ? write_to(folder_ + "/cpu.max", fmt::format("{} {}", quota_us, period_us))
						  : write_to(folder_ + "/cpu.cfs_period_us", std::to_string(period_us)) &&
								write_to(folder_ + "/cpu.cfs_quota_us", std::to_string(quota_us));
	if (done)
		return;
	rmdir(folder_.c_str());
	throw Failure(ExitCode::MachineCannot, "the kernel doesn't limit the CPU time of groups (CONFIG_CFS_BANDWIDTH)");
}

CpuGroup::~CpuGroup()
{
	for (const auto &[process, before] : before_)
		write_to(before + "/cgroup.procs", std::to_string(process));
	for (int i = 0; i < 100 && rmdir(folder_.c_str()) && errno == EBUSY; i++)
		usleep(1000); // who has just been reaped may still be leaving
}

std::string CpuGroup::group_of(pid_t process) const
{
	std::ifstream groups(fmt::format("/proc/{}/cgroup", process));
	for (std::string line; std::getline(groups, line);) {
		const size_t first = line.find(':'), second = line.find(':', first + 1);
		if (second == std::string::npos)
			continue;
		const std::string controllers = line.substr(first + 1, second - first - 1);
		if (v2_ ? controllers.empty() : has_word(controllers, "cpu", ','))
			return root_ + line.substr(second + 1);
	}
	return root_;
}

void CpuGroup::add(pid_t process)
{
	before_[process] = group_of(process);
	if (!write_to(folder_ + "/cgroup.procs", std::to_string(process)))
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("process {} can't be moved to {}: {}", process, folder_, std::strerror(errno)));
}

} // namespace icepath::selftest
