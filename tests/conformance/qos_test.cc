// SPDX-License-Identifier: Apache-2.0
// A library grants the quality of service that its adapter claims, both ends report it, and messages pass with it. What
// an adapter lacks is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "profiler/model/qos.h"
#include "tests/conformance/targets.h"
#include "tests/conformance/worker_pair.h"

namespace icepath::test {
namespace {

constexpr uint64_t kHalfSecondNs = 500'000'000;

// Each enum value, and finite and infinite times, in as few channels as possible.
constexpr model::Qos kSamples[] = {
	{{ICEPATH_RELIABLE, ICEPATH_TRANSIENT_LOCAL, ICEPATH_KEEP_LAST, 7, kHalfSecondNs, kHalfSecondNs,
	  ICEPATH_MANUAL_BY_TOPIC, kHalfSecondNs}},
	{{ICEPATH_BEST_EFFORT, ICEPATH_VOLATILE, ICEPATH_KEEP_ALL, std::nullopt, ICEPATH_QOS_INFINITE, ICEPATH_QOS_INFINITE,
	  ICEPATH_AUTOMATIC, ICEPATH_QOS_INFINITE}},
	{{std::nullopt, std::nullopt, ICEPATH_KEEP_LAST, 1, std::nullopt, std::nullopt, ICEPATH_MANUAL_BY_PARTICIPANT,
	  kHalfSecondNs}},
};

PairPlan plan_for(const TargetUnderTest &target, const model::Qos &qos)
{
	PairPlan plan;
	plan.plugin = target.plugin;
	plan.target = target.told.name;
	plan.threads = target.is_within_process();
	plan.wait = target.some_wait();
	plan.qos = model::for_plugin(qos);
	return plan;
}

class QualityOfService : public testing::TestWithParam<TargetUnderTest> {};

TEST_P(QualityOfService, IsGrantedWhereItIsOffered)
{
	for (model::Qos qos : kSamples) {
		for (size_t i = 0; i < qos.size(); i++)
			if ((GetParam().told.qos & (1u << i)) == 0)
				qos[i] = std::nullopt;
		if (!qos.any())
			continue;
		WorkerPair pair(plan_for(GetParam(), qos));
		ASSERT_EQ(pair.open(), "") << text(qos);
		for (const uint32_t side : {0u, 1u}) {
			const model::Qos granted = model::believable(pair.granted(side));
			for (size_t i = 0; i < qos.size(); i++)
				if (qos[i]) {
					EXPECT_EQ(granted[i], qos[i]) << model::kQosPolicies[i].name << " of side " << side
												  << ", asked for " << text(qos) << ", granted " << text(granted);
				}
		}
		const auto replies = pair.run(pair.block(5));
		EXPECT_EQ(std::string(replies[0].message), "") << text(qos);
		EXPECT_EQ(replies[0].block.recvs, 5u) << text(qos);
	}
}

TEST_P(QualityOfService, IsRefusedWhereItIsNot)
{
	for (size_t i = 0; i < kSamples[0].size(); i++) {
		if (GetParam().told.qos & (1u << i))
			continue;
		model::Qos qos;
		qos[i] = kSamples[0][i];
		WorkerPair pair(plan_for(GetParam(), qos));
		const std::string refusal = pair.open();
		EXPECT_NE(refusal.find("quality of service"), std::string::npos) << text(qos) << ": " << refusal;
		EXPECT_NE(refusal.find(GetParam().told.name), std::string::npos) << refusal;
	}
}

// A writer of DDS that keeps all waits for acknowledgements now and then, which a ping-pong doesn't need. Where several
// messages may be under way, none is to be lost.
TEST_P(QualityOfService, OfDdsKeepsTheLastMessageWhereThereIsOneAtATime)
{
	const std::string name = GetParam().told.name;
	if (!name.starts_with("fastdds/") && !name.starts_with("cyclonedds/"))
		return;
	if ((GetParam().told.qos & (1u << ICEPATH_QOS_HISTORY)) == 0)
		return;
	for (const uint32_t responses : {0u, 1u, 10u}) {
		SCOPED_TRACE(responses);
		PairPlan plan = plan_for(GetParam(), {});
		plan.one_way = responses == 0;
		plan.responses = std::max(responses, 1u);
		WorkerPair pair(plan);
		ASSERT_EQ(pair.open(), "");
		const bool keeps_last = responses == 1 || (responses > 1 && plan.wait == ICEPATH_WAIT_CALLBACK);
		for (const uint32_t side : {0u, 1u})
			EXPECT_EQ(model::believable(pair.granted(side))[ICEPATH_QOS_HISTORY],
					  std::optional<uint64_t>(keeps_last ? ICEPATH_KEEP_LAST : ICEPATH_KEEP_ALL))
				<< "side " << side;
		const auto replies = pair.run(pair.block(20));
		EXPECT_EQ(std::string(replies[0].message), "");
		EXPECT_EQ(replies[0].block.recvs, 20 * responses);
	}
}

// As fast as possible: an end that keeps only the last message loses some, still ends its block, and gets others
// complete.
TEST_P(QualityOfService, LosesMessagesAndEndsItsBlock)
{
	model::Qos qos;
	if (GetParam().told.qos & (1u << ICEPATH_QOS_RELIABILITY))
		qos[ICEPATH_QOS_RELIABILITY] = ICEPATH_BEST_EFFORT;
	if (GetParam().told.qos & (1u << ICEPATH_QOS_HISTORY))
		qos[ICEPATH_QOS_HISTORY] = ICEPATH_KEEP_LAST;
	if (GetParam().told.qos & (1u << ICEPATH_QOS_DEPTH))
		qos[ICEPATH_QOS_DEPTH] = 1;
	if (!model::may_lose(qos))
		return;
	PairPlan plan = plan_for(GetParam(), qos);
	plan.one_way = true;
	plan.max_messages = 3000;
	WorkerPair pair(plan);
	ASSERT_EQ(pair.open(), "") << text(qos);
	const auto replies = pair.run(pair.block(3000));
	for (const uint32_t side : {0u, 1u})
		EXPECT_EQ(replies[side].status, worker::ReplyStatus::Done) << text(qos) << ": " << replies[side].message;
	EXPECT_EQ(replies[0].block.sends, 3000u);
	EXPECT_GT(replies[1].block.recvs, 0u);
	EXPECT_LE(replies[1].block.recvs, 3000u);
	for (uint32_t i = 0; i < replies[1].block.recvs; i++)
		EXPECT_EQ(pair.recvs(1)[i].flags & model::kStampBadPayload, 0u) << i;
}

std::vector<TargetUnderTest> targets_that_work()
{
	std::vector<TargetUnderTest> targets = all_targets();
	std::erase_if(targets, [](const TargetUnderTest &one) { return one.told.why_not[0] != 0; });
	return targets;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(QualityOfService);
INSTANTIATE_TEST_SUITE_P(Every, QualityOfService, testing::ValuesIn(targets_that_work()), [](const auto &target) {
	std::string name = target.param.told.name;
	std::ranges::replace_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
	return name;
});

} // namespace
} // namespace icepath::test
