// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/cpu_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/privilege/leave_caller.h"
#include "profiler/privilege/root_process.h"
#include "profiler/selftest/injector_filter.h"
#include "profiler/selftest/injector_rights.h"

namespace icepath::selftest {
namespace {

constexpr const char *kMembers = "cgroup.procs";
constexpr int kKeeperMs = 5000;

// Its first message: why it can't keep the group; empty: it can.
using KeepersBeginning = std::array<char, 256>;

Fd open_in(const Fd &folder, const char *name, int flags)
{
	return Fd(openat(folder.get(), name, flags | O_NOFOLLOW | O_CLOEXEC));
}

bool write_to(const Fd &file, const std::string &text)
{
	return write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Moves the first members that fit the buffer, which is enough: there are two.
void move_members(const Fd &group, const Fd &to)
{
	const Fd members = open_in(group, kMembers, O_RDONLY);
	std::array<char, 1024> text{};
	const ssize_t bytes = read(members.get(), text.data(), text.size());
	const char *end = text.data() + std::max<ssize_t>(bytes, 0);
	for (const char *at = text.data(); at < end;) {
		pid_t process = 0;
		const auto parsed = std::from_chars(at, end, process);
		if (parsed.ec == std::errc() && process > 0)
			write_to(to, std::to_string(process));
		at = parsed.ptr + 1;
	}
}

} // namespace

CpuGroup::CpuGroup(uint64_t quota_us, uint64_t period_us)
	: hierarchy_(find_cpu_hierarchy()), home_(group_of(getpid(), hierarchy_)),
	  root_(open(hierarchy_.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
	  home_members_(
		  open(fmt::format("{}{}/{}", hierarchy_.path, home_, kMembers).c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC))
{
	if (!root_ || !home_members_)
		throw Failure(ExitCode::MachineCannot, fmt::format("the control group {}{} can't be opened: {}",
														   hierarchy_.path, home_, std::strerror(errno)));
	(void)take_back_leftover_groups(); // groups that can't be removed disturb nobody
	make_folder();
	try {
		fork_keeper();
		limit(quota_us, period_us);
	} catch (...) {
		end_keeper();
		unlinkat(root_.get(), name_.c_str(), AT_REMOVEDIR);
		throw;
	}
}

// Below the root of the hierarchy: a v2 group with processes, like this process's own, can't have groups with
// controllers below it.
void CpuGroup::make_folder()
{
	// Another selftest may take it for a leftover until it is locked, and one in another PID namespace may have its
	// name.
	constexpr int kTries = 10;
	for (int i = 0; i < kTries; i++) {
		name_ = fmt::format("{}{}-{}", kGroupPrefix, getpid(), i);
		if (mkdirat(root_.get(), name_.c_str(), 0755)) {
			if (errno == EEXIST)
				continue;
			break;
		}
		folder_ = open_in(root_, name_.c_str(), O_RDONLY | O_DIRECTORY);
		members_ = open_in(folder_, kMembers, O_WRONLY);
		if (members_ && flock(folder_.get(), LOCK_EX | LOCK_NB) == 0 &&
			faccessat(root_.get(), name_.c_str(), F_OK, 0) == 0)
			return;
	}
	throw Failure(ExitCode::MachineCannot,
				  fmt::format("{}/{} can't be made: {}", hierarchy_.path, name_, std::strerror(errno)));
}

void CpuGroup::limit(uint64_t quota_us, uint64_t period_us) const
{
	const auto set = [&](const char *name, const std::string &text) {
		return write_to(open_in(folder_, name, O_WRONLY), text);
	};
	const bool done = hierarchy_.v2 ? set("cpu.max", fmt::format("{} {}", quota_us, period_us))
									: set("cpu.cfs_period_us", std::to_string(period_us)) &&
										  set("cpu.cfs_quota_us", std::to_string(quota_us));
	if (!done)
		throw Failure(ExitCode::MachineCannot,
					  "the kernel doesn't limit the CPU time of groups (CONFIG_CFS_BANDWIDTH)");
}

void CpuGroup::fork_keeper()
{
	auto [ours, its] = channel::open_pair();
	keeper_ = fork();
	if (keeper_ < 0)
		throw Failure(
			ExitCode::MachineCannot,
			fmt::format("the process that removes a control group can't be forked: {}", std::strerror(errno)));
	if (keeper_ == 0)
		keep(its.get());
	its.reset();
	keeper_pidfd_ = pidfd_of(keeper_);
	keeper_waits_for_ = std::move(ours);
	KeepersBeginning beginning{};
	std::vector<Fd> none;
	if (!channel::receive(keeper_waits_for_.get(), &beginning, sizeof(beginning), none, kKeeperMs))
		throw Failure(ExitCode::MachineCannot,
					  "the process that removes a control group can't give up rights that it doesn't need");
	if (beginning.front() != 0)
		throw Failure(
			ExitCode::MachineCannot,
			fmt::format("whoever calls icepath could end or stop the process that removes a control group: {}",
						beginning.data()));
}

// Runs in the keeper.
void CpuGroup::keep(int maker) const
{
	constexpr int kTryEveryMs = 5;
	prctl(PR_SET_NAME, "icepath-group");
	// Only the maker holds the lock: if the keeper is killed too, the next selftest removes the unlocked group.
	const Fd folder = open_in(root_, name_.c_str(), O_RDONLY | O_DIRECTORY);
	privilege::close_all_but({maker, root_.get(), folder.get(), home_members_.get()});
	try {
		KeepersBeginning beginning{};
		channel::put(beginning, privilege::leave_caller().why_not);
		keep_rights_for_removing();
		allow_injecting_calls_only(false);
		if (!channel::send(maker, &beginning, sizeof(beginning)) || beginning.front() != 0)
			_exit(1);
	} catch (const Failure &) {
		_exit(1);
	}
	pollfd end{maker, POLLIN, 0};
	while (poll(&end, 1, -1) < 0 && errno == EINTR) {
	}
	for (int waited_ms = 0; waited_ms < kKeeperMs; waited_ms += kTryEveryMs) {
		move_members(folder, home_members_);
		if (unlinkat(root_.get(), name_.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT)
			break;
		poll(nullptr, 0, kTryEveryMs); // a process just reaped may still be leaving
	}
	_exit(0);
}

void CpuGroup::end_keeper()
{
	constexpr int kEndMs = 1000;
	keeper_waits_for_.reset();
	pollfd end{keeper_pidfd_.get(), POLLIN, 0};
	if (poll(&end, 1, kEndMs) > 0)
		waitpid(keeper_, nullptr, WNOHANG);
}

CpuGroup::~CpuGroup() { end_keeper(); }

void CpuGroup::add(pid_t process)
{
	// This process's children are in the root group by then (injector_server.cc).
	if (const std::string group = group_of(process, hierarchy_); group != home_ && group != "/")
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("process {} isn't in icepath's own control group, {}", process, home_));
	if (!write_to(members_, std::to_string(process)))
		throw Failure(ExitCode::MachineCannot, fmt::format("process {} can't be moved to {}/{}: {}", process,
														   hierarchy_.path, name_, std::strerror(errno)));
}

void CpuGroup::put_all_back() noexcept { move_members(folder_, home_members_); }

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
