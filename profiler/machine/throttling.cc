// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine/throttling.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace icepath::machine {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator)
{
	std::vector<std::string_view> parts;
	while (!text.empty()) {
		const size_t end = std::min(text.find(separator), text.size());
		parts.push_back(text.substr(0, end));
		text.remove_prefix(std::min(end + 1, text.size()));
	}
	return parts;
}

bool holds(const std::vector<std::string_view> &words, std::string_view word)
{
	return std::ranges::find(words, word) != words.end();
}

struct Mount {
	std::string_view root, at; // the mounted part of the hierarchy, and its mount point
	bool unified = false;
};

// proc_pid_mountinfo(5): "36 35 98:0 /root /where options … - type source options".
std::vector<Mount> mounts_with_cpu(std::string_view mounts)
{
	std::vector<Mount> found;
	for (const std::string_view line : split(mounts, '\n')) {
		const std::vector<std::string_view> words = split(line, ' ');
		const auto dash = std::ranges::find(words, "-");
		if (dash - words.begin() < 6 || words.end() - dash < 4 || holds(split(words[4], '/'), ".."))
			continue;
		const bool unified = dash[1] == "cgroup2";
		if (unified || (dash[1] == "cgroup" && holds(split(dash[3], ','), "cpu")))
			found.push_back({words[3], words[4], unified});
	}
	return found;
}

// proc_pid_cgroup(5), cgroups(7): "4:cpu,cpuacct:/group", of the unified hierarchy "0::/group".
std::optional<std::string_view> group_in(std::string_view groups, bool unified)
{
	for (const std::string_view line : split(groups, '\n')) {
		const size_t first = line.find(':'), second = line.find(':', first + 1);
		if (second == std::string_view::npos)
			continue;
		const std::string_view controllers = line.substr(first + 1, second - first - 1);
		if (unified ? line.substr(0, first) == "0" && controllers.empty() : holds(split(controllers, ','), "cpu"))
			return line.substr(second + 1);
	}
	return {};
}

std::string content(const std::filesystem::path &path)
{
	std::ifstream file(path);
	return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

std::vector<std::filesystem::path> throttling_files(std::string_view groups, std::string_view mounts)
{
	std::vector<std::filesystem::path> files;
	for (const Mount &mount : mounts_with_cpu(mounts)) {
		const std::optional<std::string_view> group = group_in(groups, mount.unified);
		if (!group)
			continue;
		// In a container, only a part of the hierarchy may be mounted.
		std::string_view below = *group;
		if (mount.root != "/" && below.starts_with(mount.root))
			below.remove_prefix(mount.root.size());
		std::filesystem::path at = mount.at;
		files.push_back(at / "cpu.stat");
		for (const std::string_view part : split(below, '/'))
			if (!part.empty() && part != "..")
				files.push_back((at /= part) / "cpu.stat");
	}
	return files;
}

std::vector<std::filesystem::path> throttling_files(const std::vector<uint32_t> &tids)
{
	std::set<std::string> groups;
	for (const uint32_t tid : tids)
		groups.insert(content(fmt::format("/proc/{}/cgroup", tid)));
	const std::string mounts = content("/proc/self/mountinfo");
	std::set<std::filesystem::path> files;
	for (const std::string &of_thread : groups)
		for (std::filesystem::path &file : throttling_files(of_thread, mounts))
			files.insert(std::move(file));
	return {files.begin(), files.end()};
}

std::optional<uint64_t> times_throttled(const std::vector<std::filesystem::path> &files)
{
	constexpr std::string_view kKey = "nr_throttled ";
	std::optional<uint64_t> sum;
	for (const std::filesystem::path &file : files) {
		const std::string text = content(file);
		for (const std::string_view line : split(text, '\n')) {
			uint64_t count = 0;
			if (line.starts_with(kKey) &&
				std::from_chars(line.data() + kKey.size(), line.data() + line.size(), count).ec == std::errc{})
				sum = sum.value_or(0) + count;
		}
	}
	return sum;
}

} // namespace icepath::machine
