// SPDX-License-Identifier: Apache-2.0
#include "tests/isolation/fake_cgroups.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

namespace icepath::isolation {
namespace {

namespace fs = std::filesystem;

const std::string kTop = "sys/fs/cgroup", kControl = kTop + "/cgroup.subtree_control", kOthers = kTop + "/user.slice",
				  kGroup = kTop + "/icepath", kKind = kGroup + "/cpuset.cpus.partition", kLeaf = kGroup + "/run",
				  kEffective = kTop + "/cpuset.cpus.effective";

} // namespace

FakeCgroups::FakeCgroups(std::string root) : root_(std::move(root))
{
	write(kTop + "/cgroup.controllers", "cpuset cpu io memory pids");
	write(kTop + "/cgroup.procs", "1");
	write(kControl, "memory pids");
	write(kEffective, "0-3");
	write(kOthers + "/cgroup.procs", "100");
}

int FakeCgroups::at_change(const std::string &path, bool after_it)
{
	if (after_it)
		after(path);
	else
		before(path);
	return 0;
}

void FakeCgroups::before(const std::string &path)
{
	if (path == kControl)
		controllers_ = read(kControl);
	if ((path == kGroup || path == kLeaf) && exists(path)) // a group's files go with it
		remove_files(path);
}

void FakeCgroups::after(const std::string &path)
{
	if (path == kControl)
		give_controller(read(kControl).starts_with("+"));
	if (path == kGroup && exists(kGroup))
		for (const auto &[file, content] :
			 std::vector<std::pair<const char *, const char *>>{{"cpuset.cpus", ""},
																{"cpuset.cpus.exclusive", ""},
																{"cpuset.cpus.partition", "member"},
																{"cpuset.cpus.effective", "0-3"},
																{"cgroup.subtree_control", ""},
																{"cgroup.procs", ""}})
			write(kGroup + "/" + file, content);
	if (path == kGroup && !exists(kGroup))
		write(kEffective, "0-3");
	if (path == kKind)
		judge();
	if (path == kLeaf && exists(kLeaf))
		for (const char *file : {"cgroup.procs", "cgroup.kill"})
			write(kLeaf + "/" + file, "");
}

void FakeCgroups::give_controller(bool there)
{
	constexpr const char *kOurs = "cpuset ";
	std::string others = controllers_;
	if (others.starts_with(kOurs))
		others.erase(0, std::string(kOurs).size());
	write(kControl, (there ? kOurs : "") + others);
	if (there)
		write(kOthers + "/cpuset.cpus", "");
	else
		fs::remove(root_ + "/" + kOthers + "/cpuset.cpus");
}

// The group has just been told what to be.
void FakeCgroups::judge()
{
	if (read(kKind).find("member") != std::string::npos) { // perhaps behind what it was
		write(kKind, "member");
		write(kEffective, "0-3");
		return;
	}
	write(kKind, invalid.empty() ? "isolated" : "isolated invalid (" + invalid + ")");
	if (!invalid.empty())
		return;
	write(kGroup + "/cpuset.cpus.effective", read(kGroup + "/cpuset.cpus"));
	if (!lies)
		write(kEffective, "0-1");
}

bool FakeCgroups::exists(const std::string &path) const { return fs::exists(root_ + "/" + path); }

std::string FakeCgroups::read(const std::string &path) const
{
	std::ifstream file(root_ + "/" + path);
	std::string text{std::istreambuf_iterator<char>(file), {}};
	while (!text.empty() && text.back() == '\n')
		text.pop_back();
	return text;
}

void FakeCgroups::write(const std::string &path, const std::string &content) const
{
	const fs::path file = root_ + "/" + path;
	fs::create_directories(file.parent_path());
	std::ofstream(file) << content << (content.empty() ? "" : "\n");
}

void FakeCgroups::remove_files(const std::string &folder) const
{
	const std::vector<fs::directory_entry> all(fs::directory_iterator(root_ + "/" + folder), {});
	for (const fs::directory_entry &entry : all)
		if (entry.is_regular_file())
			fs::remove(entry);
}

} // namespace icepath::isolation
