// SPDX-License-Identifier: Apache-2.0
// A target for one process only refuses two with a reason, and a target for two processes refuses one.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>

#include "tests/conformance/targets.h"
#include "tests/conformance/worker_pair.h"

namespace icepath::test {
namespace {

class WithinProcess : public testing::TestWithParam<Case> {};
class BetweenProcesses : public testing::TestWithParam<Case> {};

// A plug-in may have no such target.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WithinProcess);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BetweenProcesses);

void expect_refusal(const PairPlan &plan, const std::string &reason)
{
	const uint64_t begin_ns = icepath_now_ns();
	const std::string refusal = WorkerPair(plan).open();
	EXPECT_NE(refusal.find(plan.target), std::string::npos) << refusal;
	EXPECT_NE(refusal.find(reason), std::string::npos) << refusal;
	EXPECT_LT(icepath_now_ns() - begin_ns, 2'000'000'000u) << "it doesn't wait for what can't come";
}

TEST_P(WithinProcess, RefusesAPeerInAnother)
{
	PairPlan plan = GetParam().plan();
	plan.threads = false;
	expect_refusal(plan, "within one process");
}

TEST_P(BetweenProcesses, RefusesAPeerInTheSame)
{
	PairPlan plan = GetParam().plan();
	plan.threads = true;
	expect_refusal(plan, "between processes");
}

TEST_P(WithinProcess, EndsBySideAfterSide)
{
	WorkerPair pair(GetParam().plan());
	ASSERT_EQ(pair.open(), "");
	const auto replies = pair.run(pair.block(10));
	EXPECT_EQ(replies[1].block.recvs, 10u) << replies[1].message;
	pair.side(1).wait_end();
	const int status = pair.side(0).wait_end();
	EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

std::vector<Case> cases_with(uint32_t capability)
{
	std::vector<Case> cases = cases_of_size(64);
	std::erase_if(cases, [=](const Case &each) { return (each.told.capabilities & capability) == 0; });
	return cases;
}

INSTANTIATE_TEST_SUITE_P(Every, WithinProcess, testing::ValuesIn(cases_with(ICEPATH_WITHIN_PROCESS)),
						 [](const auto &each) { return each.param.test_name(); });
INSTANTIATE_TEST_SUITE_P(Every, BetweenProcesses, testing::ValuesIn(cases_with(ICEPATH_BETWEEN_PROCESSES)),
						 [](const auto &each) { return each.param.test_name(); });

} // namespace
} // namespace icepath::test
