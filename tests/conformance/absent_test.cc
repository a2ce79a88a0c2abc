// SPDX-License-Identifier: Apache-2.0
// A target that doesn't work on this machine gives its reason: on open, and in the plan.
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/failure.h"
#include "profiler/plan/plan.h"
#include "tests/conformance/targets.h"
#include "tests/conformance/worker_pair.h"

namespace icepath::test {
namespace {

class Absent : public testing::TestWithParam<TargetUnderTest> {
protected:
	const worker::TargetReply &told() const { return GetParam().told; }
	void expect_reason(const std::string &sentence) const
	{
		EXPECT_NE(sentence.find(told().name), std::string::npos) << sentence;
		EXPECT_NE(sentence.find(told().why_not), std::string::npos) << sentence;
	}
	targets::Target described() const
	{
		targets::Target target;
		target.name = told().name;
		target.waits = targets::waits_of(told().waits);
		target.max_payload_bytes = 64;
		target.why_not = told().why_not;
		return target;
	}
};

// A build in which every target works has no cases.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Absent);

TEST_P(Absent, SaysWhyWhereItIsOpened)
{
	PairPlan plan;
	plan.plugin = GetParam().plugin;
	plan.target = told().name;
	plan.payload_bytes = 1;
	expect_reason(WorkerPair(plan).open());
}

TEST_P(Absent, SaysWhyInThePlan)
{
	plan::Wishes wishes;
	wishes.targets = {told().name};
	wishes.patterns = {model::Pattern::PingPong};
	try {
		plan::make(wishes, {described()}, {0, 1});
		ADD_FAILURE() << "it was planned";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::MachineCannot);
		expect_reason(failure.what());
	}
}

std::vector<TargetUnderTest> absent_targets()
{
	std::vector<TargetUnderTest> absent = all_targets();
	std::erase_if(absent, [](const TargetUnderTest &target) { return target.told.why_not[0] == 0; });
	return absent;
}

INSTANTIATE_TEST_SUITE_P(Every, Absent, testing::ValuesIn(absent_targets()), [](const auto &each) {
	std::string name = each.param.told.name;
	std::replace_if(name.begin(), name.end(), [](char c) { return c == '-' || c == '/'; }, '_');
	return name;
});

} // namespace
} // namespace icepath::test
