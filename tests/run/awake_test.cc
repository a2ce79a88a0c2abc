// SPDX-License-Identifier: Apache-2.0
// CPUs are kept awake only in blocks of cells with held idle states. KeptAwake is real, its file is the test's.
#include "profiler/run/awake.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>

namespace icepath::run {
namespace {

namespace fs = std::filesystem;
constexpr int32_t kAnyUs = 2'000'000'000;

class AwakeTest : public testing::Test {
protected:
	AwakeTest()
	{
		std::string name = testing::TempDir() + "icepath-awake-XXXXXX";
		if (!mkdtemp(name.data()))
			std::abort();
		root = name;
		fs::create_directories(root / "dev");
		std::ofstream(root / "dev/cpu_dma_latency", std::ios::binary)
			.write(reinterpret_cast<const char *>(&kAnyUs), sizeof kAnyUs);
		fs::create_directories(root / "sys/devices/system/cpu/cpuidle");
		std::ofstream(root / "sys/devices/system/cpu/cpuidle/current_driver") << "test\n";
		kept.emplace(root);
		held.idle_states = model::IdleStates::Held;
	}
	~AwakeTest() override { fs::remove_all(root); }

	int32_t asked() const
	{
		int32_t us = -1;
		std::ifstream(root / "dev/cpu_dma_latency", std::ios::binary).read(reinterpret_cast<char *>(&us), sizeof us);
		return us;
	}

	fs::path root;
	std::optional<cpuset::KeptAwake> kept;
	model::Cell held, own;
	Notices notices{{}};
};

TEST_F(AwakeTest, CpusAreHeldForTheBlockAlone)
{
	EXPECT_EQ(asked(), kAnyUs);
	{
		const Awake awake(&*kept, held, notices);
		EXPECT_EQ(asked(), 0);
	}
	EXPECT_EQ(asked(), kAnyUs);
	EXPECT_TRUE(notices.all().empty());
}

TEST_F(AwakeTest, CpusOfOtherCellsIdleAsTheyWill)
{
	const Awake awake(&*kept, own, notices);
	EXPECT_EQ(asked(), kAnyUs);
}

TEST_F(AwakeTest, NobodyHoldsWhereIcepathDoesNot)
{
	const Awake awake(nullptr, held, notices);
	EXPECT_EQ(asked(), kAnyUs);
	EXPECT_TRUE(wakes_held(nullptr, {held}, {0}, notices).empty());
}

TEST_F(AwakeTest, WhatFailsInMidRunIsToldOnce)
{
	rlimit before{};
	getrlimit(RLIMIT_FSIZE, &before);
	const rlimit nothing{0, before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &nothing); // from here on, writing to a file fails
	for (int block = 0; block < 3; block++)
		const Awake awake(&*kept, held, notices);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_DFL);
	ASSERT_EQ(notices.all().size(), 2u) << "that they weren't held, and that they can't be let go";
	EXPECT_NE(notices.all()[0].find("mix blocks of both kinds"), std::string::npos) << notices.all()[0];
}

TEST_F(AwakeTest, TheMachineIsLookedAtSoOnlyWhereACellIsMeasuredSo)
{
	EXPECT_TRUE(wakes_held(&*kept, {own, own}, {0}, notices).empty());
	EXPECT_EQ(wakes_held(&*kept, {own, held}, {0}, notices).size(), 1u);
	EXPECT_EQ(asked(), kAnyUs);
}

} // namespace
} // namespace icepath::run
