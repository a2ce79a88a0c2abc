// SPDX-License-Identifier: Apache-2.0
#include "profiler/isolation/knobs.h"

#include <gtest/gtest.h>

#include <fcntl.h>

#include <filesystem>

#include "tests/isolation/fake_host.h"

namespace icepath::isolation {
namespace {

TEST(Masks, AreReadAndWrittenAsTheKernelHasThem)
{
	EXPECT_EQ(parse_mask("3"), (cpuset::CpuList{0, 1}));
	EXPECT_EQ(parse_mask("00000003\n"), (cpuset::CpuList{0, 1}));
	EXPECT_EQ(parse_mask("1,80000000"), (cpuset::CpuList{31, 32}));
	EXPECT_EQ(parse_mask("0"), cpuset::CpuList());
	for (const char *wrong : {"", "x", "3,", "123456789", "-1", "0x3", "3 4"})
		EXPECT_EQ(parse_mask(wrong), std::nullopt) << wrong;
	for (const cpuset::CpuList &cpus : {cpuset::CpuList{}, {0}, {31, 32}, {5, 70}, {63, 64, 127}})
		EXPECT_EQ(parse_mask(format_mask(cpus)), cpus) << format_mask(cpus);
	EXPECT_EQ(format_mask({31, 32}), "1,80000000");
	EXPECT_EQ(format_mask({64}), "1,00000000,00000000");
}

TEST(Values, AreTheSameWhereTheyMeanTheSame)
{
	EXPECT_TRUE(same(Form::CpuList, "0,1", "0-1"));
	EXPECT_FALSE(same(Form::CpuList, "0,1", "0"));
	EXPECT_TRUE(same(Form::CpuMask, "00000003", "3\n"));
	EXPECT_FALSE(same(Form::CpuMask, "10", "0010,0"));
	EXPECT_TRUE(same(Form::Word, "n/a", "n/a\n"));
	EXPECT_FALSE(same(Form::Word, "0", "00")) << "that is no set";
}

TEST(Places, AreThoseOfTheList)
{
	EXPECT_EQ(place_of("interrupt", 24)->path(), "proc/irq/24/smp_affinity_list");
	EXPECT_EQ(place_of("resume_latency", 3)->path(), "sys/devices/system/cpu/cpu3/power/pm_qos_resume_latency_us");
	EXPECT_EQ(place_of("watchdog")->path(), "proc/sys/kernel/watchdog_cpumask");
	EXPECT_FALSE(place_of("watchdog", 1));
	EXPECT_FALSE(place_of("interrupt", 1'000'000));
	EXPECT_FALSE(place_of("modprobe"));
	for (const Knob &knob : kKnobs)
		EXPECT_EQ(std::string(knob.path).find(".."), std::string::npos) << knob.path;
}

// On 6.12 the mask that is shown is narrower than what was asked for, once a partition is there.
TEST(Knobs, AreReadWhereTheKernelShowsWhatItWasAskedFor)
{
	FakeHost host;
	host.write("/sys/devices/virtual/workqueue/cpumask_requested", "f");
	host.write("/sys/devices/virtual/workqueue/cpumask", "3");
	EXPECT_EQ(open_knob(host.tree, *place_of("workqueues"))->read(), "f");
}

TEST(Trees, AreNotLeft)
{
	FakeHost host;
	namespace fs = std::filesystem;
	host.write("/outside", "1");
	fs::create_directory_symlink("/etc", host.tree.root + "/run/etc");
	EXPECT_FALSE(host.tree.open("run/etc/passwd", O_RDONLY));
	EXPECT_FALSE(host.tree.open("../../etc/passwd", O_RDONLY));
	EXPECT_FALSE(host.tree.open("/etc/passwd", O_RDONLY));
	EXPECT_TRUE(host.tree.open("outside", O_RDONLY));
}

} // namespace
} // namespace icepath::isolation
