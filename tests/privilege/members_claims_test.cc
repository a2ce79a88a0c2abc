// SPDX-License-Identifier: Apache-2.0
// Who holds a CPU keeps all others from it; and how much a member may hold and load.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "profiler/privilege/cpu_claim.h"
#include "profiler/privilege/file_capabilities.h"
#include "tests/privilege/member.h"
#include "tests/privilege/raw_helper.h"
#include "tests/privilege/roots_folder.h"

namespace icepath::privilege {
namespace {

class MembersClaims : public testing::Test {
protected:
	void SetUp() override
	{
		if (const std::string why = why_no_roots_folder(); !why.empty())
			GTEST_SKIP() << why;
		helper = roots_folder() / kHelperName;
		give_capabilities(helper, kMembers);
	}
	static void expect_served(Member &member)
	{
		ASSERT_TRUE(member.beginning()) << "the helper has ended";
		ASSERT_EQ(*member.beginning(), "");
	}

	std::filesystem::path helper;
};

// A number that no machine here has.
uint32_t unused_cpu() { return CPU_SETSIZE / 2 + static_cast<uint32_t>(getpid()) % (CPU_SETSIZE / 2); }

// Why a helper doesn't claim that CPU; empty: it does.
template <class AnyHelper> std::string why_not_claimed(AnyHelper &helper, uint32_t cpu = unused_cpu())
{
	const auto reply = helper.ask(claim_of(cpu));
	return reply ? sentence(*reply) : "the helper is gone";
}

std::string is_measuring(pid_t icepath)
{
	return fmt::format("another icepath (pid {}) is measuring on CPU {}", icepath, unused_cpu());
}

TEST_F(MembersClaims, ItsCpusAreRefusedToOthersUntilItIsKilled)
{
	Member first(helper, {}), second(helper, {.user = kStranger});
	RawHelper of_root;
	expect_served(first);
	expect_served(second);
	EXPECT_EQ(why_not_claimed(first), "");
	EXPECT_TRUE(why_not_claimed(second).starts_with(is_measuring(first.icepath())));
	EXPECT_TRUE(why_not_claimed(of_root).starts_with(is_measuring(first.icepath())));
	kill(first.icepath(), SIGKILL);
	EXPECT_EQ(why_not_claimed(second), "");
	EXPECT_TRUE(why_not_claimed(of_root).starts_with(is_measuring(second.icepath())));
}

TEST_F(MembersClaims, CpusOfRootsRunAreRefused)
{
	RawHelper of_root;
	EXPECT_EQ(why_not_claimed(of_root), "");
	Member member(helper, {});
	expect_served(member);
	EXPECT_TRUE(why_not_claimed(member).starts_with(is_measuring(getpid())));
}

// Debian's kernels leave the timers of samples to root where kernel.perf_event_paranoid is above 2.
bool members_may_sample()
{
	int level = 0;
	std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> level;
	return level <= 2;
}

// Each CPU has memory of the kernel's, and each helper's probes slow the whole machine.
TEST_F(MembersClaims, AMemberLoadsOnlyForCpusThatItHolds)
{
	Member member(helper, {});
	expect_served(member);
	const auto refusal = [&](const HelperRequest &request) {
		const auto reply = member.ask(request);
		return !reply ? "the helper is gone" : reply->exit_code == 0 ? "done" : sentence(*reply);
	};
	EXPECT_NE(refusal(load_of(0)).find("hasn't claimed"), std::string::npos);
	HelperRequest claim = claim_of(0), load = members_may_sample() ? load_with_samples(0) : load_of(0);
	claim.cpu_count = 2;
	claim.cpus[1] = unused_cpu();
	ASSERT_EQ(refusal(claim), "done");
	load.cpu_count = 2;
	EXPECT_NE(refusal(load).find("twice"), std::string::npos);
	load.cpus[1] = unused_cpu();
	EXPECT_NE(refusal(load).find("offline"), std::string::npos);
	load.cpu_count = 0;
	EXPECT_NE(refusal(load).find("no CPU"), std::string::npos);
	load.cpu_count = 1;
	load.records_per_slot = (1u << 16) + 1;
	EXPECT_NE(refusal(load).find("out of range"), std::string::npos);
	load.records_per_slot = 1u << 16;
	ASSERT_EQ(refusal(load), "done");
	HelperRequest block = request_of(HelperRequestKind::BeginBlock);
	block.sample_period_ns = 99'999;
	EXPECT_NE(refusal(block).find("out of range"), std::string::npos);
	block.sample_period_ns = members_may_sample() ? 100'000 : 0;
	EXPECT_EQ(refusal(block), "done");
	EXPECT_EQ(refusal(request_of(HelperRequestKind::EndBlock)), "done");
}

TEST_F(MembersClaims, ARefusedClaimAllowsNoLoad)
{
	Member first(helper, {}), second(helper, {.user = kStranger});
	expect_served(first);
	expect_served(second);
	EXPECT_EQ(why_not_claimed(first, 0), "");
	EXPECT_NE(why_not_claimed(second, 0), "");
	const auto loaded = second.ask(load_of(0));
	ASSERT_TRUE(loaded);
	EXPECT_NE(sentence(*loaded).find("hasn't claimed"), std::string::npos) << sentence(*loaded);
}

TEST_F(MembersClaims, AMemberHasAFewHelpersAtATime)
{
	std::vector<std::unique_ptr<Member>> members;
	for (uint32_t i = 0; i < CpuClaim::kMostOfMember; i++) {
		members.push_back(std::make_unique<Member>(helper, Start{}));
		EXPECT_EQ(why_not_claimed(*members.back(), unused_cpu() + i), "");
	}
	Member more(helper, {}), of_another(helper, {.user = kStranger});
	Identity by_sudo;
	by_sudo.uid = kMember;
	RawHelper of_root, of_sudo(by_sudo);
	expect_served(more);
	expect_served(of_another);
	const uint32_t free = unused_cpu() + CpuClaim::kMostOfMember;
	EXPECT_TRUE(why_not_claimed(more, free).starts_with("user 61001 has 4 runs of icepath already"));
	EXPECT_EQ(why_not_claimed(of_another, free), "");
	EXPECT_EQ(why_not_claimed(of_root, free + 1), "");
	EXPECT_EQ(why_not_claimed(of_sudo, free + 2), "") << "a run as root is no member's";
	members.clear();
	std::string why = why_not_claimed(more, free + 3);
	for (int i = 0; i < 1000 && !why.empty(); i++) { // they end soon
		usleep(10'000);
		why = why_not_claimed(more, free + 3);
	}
	EXPECT_EQ(why, "");
}

} // namespace
} // namespace icepath::privilege
