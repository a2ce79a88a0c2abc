// SPDX-License-Identifier: Apache-2.0
#include "profiler/isolation/partition.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace icepath::isolation {
namespace {

constexpr const char *kRoot = "sys/fs/cgroup", *kGroup = "icepath", *kLeaf = "run";
constexpr const char *kGroupPath = "sys/fs/cgroup/icepath";

std::string in_group(const char *file) { return fmt::format("{}/{}", kGroupPath, file); }
std::string in_leaf(const char *file) { return fmt::format("{}/{}/{}", kGroupPath, kLeaf, file); }

int write_to(const Fd &file, const std::string &text)
{
	if (!file)
		return ENOENT;
	return write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : errno;
}

int make_in(const Fd &folder, const char *group) { return mkdirat(folder.get(), group, 0755) == 0 ? 0 : errno; }

int remove_in(const Fd &folder, const char *group)
{
	return unlinkat(folder.get(), group, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : errno;
}

std::string text_in(const Fd &file)
{
	std::array<char, 4096> text{};
	const ssize_t bytes = lseek(file.get(), 0, SEEK_SET) == 0 ? read(file.get(), text.data(), text.size()) : -1;
	std::string all(text.data(), static_cast<size_t>(std::max<ssize_t>(bytes, 0)));
	while (!all.empty() && all.back() == '\n')
		all.pop_back();
	return all;
}

} // namespace

std::unique_ptr<Partition> Partition::open(const Tree &tree)
{
	Fd parent = tree.open(kRoot, O_RDONLY | O_DIRECTORY);
	if (!parent)
		return nullptr;
	std::unique_ptr<Partition> partition(new Partition(tree, std::move(parent)));
	partition->open_files();
	return partition;
}

void Partition::open_files()
{
	group_ = tree_.open(kGroupPath, O_RDONLY | O_DIRECTORY);
	kind_ = tree_.open(in_group("cpuset.cpus.partition"), O_RDWR);
	list_ = tree_.open(in_group("cpuset.cpus"), O_WRONLY);
	exclusive_ = tree_.open(in_group("cpuset.cpus.exclusive"), O_WRONLY);
	effective_ = tree_.open(in_group("cpuset.cpus.effective"), O_RDONLY);
	others_ = tree_.open(fmt::format("{}/cpuset.cpus.effective", kRoot), O_RDONLY);
	members_ = tree_.open(in_leaf("cgroup.procs"), O_WRONLY);
	kill_ = tree_.open(in_leaf("cgroup.kill"), O_WRONLY);
}

std::optional<std::string> Partition::read()
{
	struct stat status{};
	if (fstatat(parent_.get(), kGroup, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return kGroupThere;
	return errno == ENOENT ? std::optional<std::string>(kGroupAbsent) : std::nullopt;
}

int Partition::write(const std::string &value) { return value == kGroupThere ? make() : take_away(); }

int Partition::make()
{
	const int error = tree_.change(kGroupPath, [&] { return make_in(parent_, kGroup); });
	if (error == 0)
		open_files();
	return error;
}

int Partition::take_away()
{
	constexpr int kPatienceMs = 5000, kTryEveryMs = 5;
	give_cpus_back();
	for (int waited_ms = 0;; waited_ms += kTryEveryMs) {
		(void)tree_.change(in_leaf("cgroup.kill"), [&] { return write_to(kill_, "1"); });
		int error = group_ ? tree_.change(in_group(kLeaf), [&] { return remove_in(group_, kLeaf); }) : 0;
		if (error == 0)
			error = tree_.change(kGroupPath, [&] { return remove_in(parent_, kGroup); });
		if (error != EBUSY || waited_ms >= kPatienceMs) // killed processes may not have ended yet
			return error;
		poll(nullptr, 0, kTryEveryMs);
	}
}

// Before the group is removed, which a worker prevents as long as it can't be killed: one that waits for an answer of a
// user's file system (FUSE), for instance.
void Partition::give_cpus_back()
{
	(void)tree_.change(in_group("cpuset.cpus.partition"), [&] { return write_to(kind_, "member"); });
	(void)tree_.change(in_group("cpuset.cpus.exclusive"), [&] { return write_to(exclusive_, "\n"); });
	(void)tree_.change(in_group("cpuset.cpus"), [&] { return write_to(list_, "\n"); });
}

std::string Partition::set_up(const cpuset::CpuList &cpus)
{
	const std::string list = cpuset::format_cpulist(cpus);
	const auto set = [&](const char *file, const std::string &text) {
		const int error =
			tree_.change(in_group(file), [&] { return write_to(tree_.open(in_group(file), O_WRONLY), text); });
		return error == 0 ? std::string() : fmt::format("/{}: {}", in_group(file), std::strerror(error));
	};
	cpus_ = cpus;
	if (std::string why = set("cpuset.cpus", list); !why.empty())
		return why;
	if (tree_.open(in_group("cpuset.cpus.exclusive"), O_RDONLY)) // since 6.7
		if (std::string why = set("cpuset.cpus.exclusive", list); !why.empty())
			return why;
	// The kernel accepts an impossible partition too, and then reports it as invalid.
	if (std::string why = set("cpuset.cpus.partition", "isolated"); !why.empty())
		return why;
	if (std::string why = why_not_isolated(); !why.empty())
		return why;
	if (std::string why = set("cgroup.subtree_control", kWithCpusets); !why.empty())
		return why;
	if (const int error = tree_.change(in_group(kLeaf), [&] { return make_in(group_, kLeaf); }))
		return fmt::format("/{}: {}", in_group(kLeaf), std::strerror(error));
	open_files();
	return members_ ? "" : fmt::format("/{} can't be opened", in_leaf("cgroup.procs"));
}

// The file alone isn't enough: on 6.12 it may say "isolated" while others run there, after the CPUs were offline.
std::string Partition::why_not_isolated()
{
	if (const std::string kind = text_in(kind_); kind != "isolated")
		return fmt::format("/{} reads \"{}\"", in_group("cpuset.cpus.partition"), kind);
	const auto own = cpuset::parse_cpulist(text_in(effective_)), others = cpuset::parse_cpulist(text_in(others_));
	if (!own || *own != cpus_)
		return fmt::format("/{} reads \"{}\"", in_group("cpuset.cpus.effective"), text_in(effective_));
	if (!others || std::ranges::any_of(cpus_, [&](uint32_t cpu) { return cpuset::contains(*others, cpu); }))
		return fmt::format("/{}/cpuset.cpus.effective reads \"{}\"", kRoot, text_in(others_));
	return "";
}

int Partition::admit(pid_t process) { return write_to(members_, std::to_string(process)); }

std::string why_no_partitions(const Tree &tree, const std::string &kernel_release)
{
	int major = 0, minor = 0;
	std::sscanf(kernel_release.c_str(), "%d.%d", &major, &minor);
	const auto controllers = tree.read(fmt::format("{}/cgroup.controllers", kRoot));
	if (!controllers)
		return "/sys/fs/cgroup isn't cgroup v2";
	if (controllers->find("cpuset") == std::string::npos)
		return "cgroup v2 has no cpuset controller here";
	if (major < 6 || (major == 6 && minor < 2))
		return "before Linux 6.2 making a partition resets on which CPUs every task of the machine may run";
	return "";
}

std::string why_partition_is_left(const Tree &tree)
{
	std::ifstream members(fmt::format("{}/{}", tree.root, in_leaf("cgroup.procs")));
	std::string processes;
	for (std::string process; members >> process;)
		processes += (processes.empty() ? "" : ", ") + process;
	return fmt::format("/{} is left, since a process in it doesn't end though it was killed{}: all tasks may use its "
					   "CPUs again, and `sudo icepath doctor --restore` removes it once that has ended",
					   kGroupPath, processes.empty() ? "" : fmt::format(" ({})", processes));
}

bool others_use_cpusets(const Tree &tree)
{
	std::error_code error;
	for (std::filesystem::directory_iterator group(fmt::format("{}/{}", tree.root, kRoot), error), end;
		 !error && group != end; group.increment(error)) {
		std::string cpus;
		if (group->path().filename() != kGroup && std::ifstream(group->path() / "cpuset.cpus") >> cpus)
			return true;
	}
	return static_cast<bool>(error);
}

} // namespace icepath::isolation
