// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine/throttling.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace icepath::machine {
namespace {

using Files = std::vector<std::filesystem::path>;

// Lines of /proc/self/mountinfo: https://docs.kernel.org/filesystems/proc.html, 3.5.
constexpr const char *kUnified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char *kOlder = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
							   "35 32 0:30 / /sys/fs/cgroup/cpuset rw shared:15 - cgroup cgroup rw,cpuset\n"
							   "36 32 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:16 - cgroup cgroup rw,cpu,cpuacct\n";

TEST(Throttling, IsOfTheGroupAndOfAllAboveIt)
{
	EXPECT_EQ(throttling_files("0::/user.slice/run\n", kUnified),
			  (Files{"/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/user.slice/cpu.stat",
					 "/sys/fs/cgroup/user.slice/run/cpu.stat"}));
}

TEST(Throttling, OfTheOlderHierarchiesTheOneWithCpuCounts)
{
	EXPECT_EQ(throttling_files("5:cpuset:/a\n4:cpu,cpuacct:/b\n0::/\n", kOlder),
			  (Files{"/sys/fs/cgroup/cpu,cpuacct/cpu.stat", "/sys/fs/cgroup/cpu,cpuacct/b/cpu.stat"}));
	EXPECT_TRUE(throttling_files("5:cpuset:/a\n", kOlder).empty());
}

TEST(Throttling, InAContainerItsPartOfTheHierarchyIsMounted)
{
	EXPECT_EQ(throttling_files("0::/docker/77/own\n", "30 23 0:26 /docker/77 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n"),
			  (Files{"/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/own/cpu.stat"}));
	EXPECT_EQ(throttling_files("0::/../above\n", kUnified),
			  (Files{"/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/above/cpu.stat"}))
		<< "outside its namespace's root";
}

TEST(Throttling, ReadsNothingFromLinesThatItDoesntKnow)
{
	EXPECT_TRUE(throttling_files("", "").empty());
	EXPECT_TRUE(throttling_files("nonsense\n::\n0:\n", "1 2\n - cgroup2\n\n1 2 3 4 5 6 - cgroup2\n").empty());
}

TEST(Throttling, AddsUpWhatTheFilesCount)
{
	const std::filesystem::path folder = testing::TempDir() + "throttling_" + std::to_string(getpid());
	std::filesystem::create_directory(folder);
	std::ofstream(folder / "one") << "usage_usec 77\nnr_periods 12\nnr_throttled 3\nthrottled_usec 99\n";
	std::ofstream(folder / "two") << "nr_periods 5\nnr_throttled 4\nthrottled_time 5\n";
	std::ofstream(folder / "root") << "usage_usec 77\n"; // the root group's cpu.stat has no nr_throttled
	EXPECT_EQ(times_throttled({folder / "one", folder / "two", folder / "root", folder / "missing"}), 7u);
	EXPECT_EQ(times_throttled({folder / "root", folder / "missing"}), std::nullopt);
	std::filesystem::remove_all(folder);
}

TEST(Throttling, FindsTheFilesOfARunningThread)
{
	for (const std::filesystem::path &file : throttling_files({static_cast<uint32_t>(getpid())}))
		EXPECT_EQ(file.filename(), "cpu.stat");
}

} // namespace
} // namespace icepath::machine
