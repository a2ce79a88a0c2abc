// SPDX-License-Identifier: Apache-2.0
// Whether CPUs are kept awake, and the reported step, with folders that look like other machines.
#include "cpuset/kept_awake.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "tests/cpuset/fake_machine.h"
#include "tests/cpuset/latency_file.h"

namespace icepath::cpuset {
namespace {

constexpr int32_t kAnyUs = 2'000'000'000;

class KeptAwakeElsewhere : public testing::Test {
protected:
	FakeMachine machine;

	int32_t asked() const { return read_us(machine.root() + kLatencyFile); }
	// A plain file returns what was written last; the kernel's returns the aggregate of all requests.
	void make_file(int32_t us)
	{
		machine.write(kLatencyFile, "");
		std::ofstream(machine.root() + kLatencyFile, std::ios::binary)
			.write(reinterpret_cast<const char *>(&us), sizeof us);
	}
	void make_link(const char *to)
	{
		std::filesystem::create_directory(machine.root() + "/dev");
		std::filesystem::create_symlink(to, machine.root() + kLatencyFile);
	}
	void make_driver(const std::string &name)
	{
		machine.write("/sys/devices/system/cpu/cpuidle/current_driver", name);
		machine.write("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL");
	}
	void expect_no_effect(StepState state, const std::string &says)
	{
		KeptAwake kept(machine.root());
		EXPECT_FALSE(kept.works());
		EXPECT_EQ(kept.step().state, state);
		EXPECT_NE(kept.step().found.find(says), std::string::npos) << kept.step().found;
		EXPECT_FALSE(kept.hold()) << "there is nothing to hold";
	}
};

TEST_F(KeptAwakeElsewhere, IsHeldAndLetGo)
{
	make_file(kAnyUs);
	make_driver("intel_idle");
	KeptAwake kept(machine.root());
	EXPECT_TRUE(kept.works());
	EXPECT_EQ(kept.step().state, StepState::Done);
	EXPECT_NE(kept.step().found.find("POLL"), std::string::npos) << kept.step().found;
	EXPECT_EQ(asked(), kAnyUs) << "not before it is wanted";
	EXPECT_FALSE(kept.hold());
	EXPECT_EQ(asked(), 0);
	EXPECT_FALSE(kept.let_go());
	EXPECT_EQ(asked(), kAnyUs);
}

TEST_F(KeptAwakeElsewhere, HasNoEffectWithoutADriver)
{
	make_file(kAnyUs);
	expect_no_effect(StepState::NotPossible, "no cpuidle driver");
	make_driver("none");
	expect_no_effect(StepState::NotPossible, "no cpuidle driver");
	EXPECT_EQ(asked(), kAnyUs);
}

TEST_F(KeptAwakeElsewhere, IsSoWithoutIcepathWhereIdleCpusPoll)
{
	make_file(kAnyUs);
	machine.write("/proc/cmdline", "root=/dev/vda quiet idle=poll");
	expect_no_effect(StepState::AlreadySo, "idle=poll");
}

TEST_F(KeptAwakeElsewhere, IsSoWhereSomebodyElseHoldsThem)
{
	make_file(0);
	make_driver("intel_idle");
	KeptAwake kept(machine.root());
	EXPECT_EQ(kept.step().state, StepState::AlreadySo);
	EXPECT_TRUE(kept.works()) << "the other may leave";
}

TEST_F(KeptAwakeElsewhere, SaysWhyNot)
{
	expect_no_effect(StepState::NotPossible, "No such file");
	make_driver("intel_idle");
	make_link("/dev/full");
	expect_no_effect(StepState::NotPossible, "can't be written: No space left");
	std::filesystem::remove(machine.root() + kLatencyFile);
	make_link("/dev/null");
	expect_no_effect(StepState::NotPossible, "refuses what is written to it");
}

TEST_F(KeptAwakeElsewhere, TellsOfAWriteThatFailsLater)
{
	make_file(kAnyUs);
	make_driver("intel_idle");
	KeptAwake kept(machine.root());
	rlimit before{};
	getrlimit(RLIMIT_FSIZE, &before);
	const rlimit nothing{0, before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &nothing);
	const Problem problem = kept.hold();
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_DFL);
	ASSERT_TRUE(problem);
	EXPECT_NE(problem->find("can't be written: File too large"), std::string::npos) << *problem;
}

} // namespace
} // namespace icepath::cpuset
