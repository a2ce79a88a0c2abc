// SPDX-License-Identifier: Apache-2.0
// Impossible sizes are refused before measuring, with the limit and its source: by the plan, and by the target.
#include <gtest/gtest.h>

#include "profiler/failure.h"
#include "profiler/plan/plan.h"
#include "tests/conformance/targets.h"
#include "tests/conformance/worker_pair.h"

namespace icepath::test {
namespace {

class Sizes : public testing::TestWithParam<Case> {
protected:
	static void expect_reason(const std::string &sentence)
	{
		for (const std::string &part :
			 {GetParam().target, std::to_string(GetParam().payload_bytes),
			  std::to_string(GetParam().told.max_payload_bytes), std::string(GetParam().told.max_payload_why)}) {
			EXPECT_NE(part, "");
			EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
		}
	}
};

targets::Target described(const Case &each)
{
	targets::Target target;
	target.name = each.target;
	target.plugin = plugin_path(each.plugin);
	target.waits = targets::waits_of(each.told.waits);
	target.mechanisms = targets::mechanisms_of(each.told.mechanisms);
	target.traits = targets::traits_of(each.told.capabilities);
	target.max_payload_bytes = each.told.max_payload_bytes;
	target.max_payload_why = each.told.max_payload_why;
	return target;
}

plan::Wishes wish_for(const Case &each)
{
	plan::Wishes wishes;
	wishes.targets = {each.target};
	wishes.patterns = {each.one_way ? model::Pattern::OneWay : model::Pattern::PingPong};
	wishes.sizes = {each.payload_bytes};
	wishes.waits = {wait_of(each.wait)};
	if (each.is_within_process())
		wishes.between = {model::Between::Threads};
	return wishes;
}

TEST_P(Sizes, BeyondTheLimitAreRefusedByTheTarget)
{
	WorkerPair pair(GetParam().plan());
	expect_reason(pair.open());
}

TEST_P(Sizes, BeyondTheLimitAreRefusedByThePlan)
{
	plan::Wishes wishes = wish_for(GetParam());
	try {
		plan::make(wishes, {described(GetParam())}, {0, 1});
		ADD_FAILURE() << "it was planned";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		expect_reason(failure.what());
	}
	wishes.sizes = {GetParam().told.max_payload_bytes};
	EXPECT_EQ(plan::make(wishes, {described(GetParam())}, {0, 1}).cells.size(), 1u);
}

// Among all targets, those that can't are left out, and the report says so.
TEST_P(Sizes, BeyondTheLimitAreLeftOutOfAll)
{
	plan::Wishes wishes = wish_for(GetParam());
	wishes.targets = {"all"};
	targets::Target boundless = described(GetParam());
	boundless.name = "boundless";
	boundless.max_payload_bytes = UINT64_MAX;
	const plan::Plan plan = plan::make(wishes, {described(GetParam()), boundless}, {0, 1});
	ASSERT_EQ(plan.cells.size(), 1u);
	EXPECT_EQ(plan.cells[0].target, "boundless");
	ASSERT_EQ(plan.notices.size(), 1u);
	expect_reason(plan.notices[0]);
}

INSTANTIATE_TEST_SUITE_P(Every, Sizes, testing::ValuesIn(cases_beyond()),
						 [](const auto &each) { return each.param.test_name(); });

TEST(SizesOfEveryTarget, CannotWrapAround)
{
	for (const TargetUnderTest &target : all_targets()) {
		if (target.told.why_not[0])
			continue; // it refuses everything
		for (const uint64_t size : {uint64_t{1} << 32, UINT64_MAX / 2 + 1, UINT64_MAX - 63, UINT64_MAX}) {
			PairPlan plan;
			plan.plugin = target.plugin;
			plan.target = target.told.name;
			plan.wait = target.some_wait();
			plan.payload_bytes = size;
			const std::string refusal = WorkerPair(plan).open();
			EXPECT_NE(refusal.find(std::to_string(size)), std::string::npos) << target.told.name << ": " << refusal;
		}
	}
}

} // namespace
} // namespace icepath::test
