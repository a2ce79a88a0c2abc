// SPDX-License-Identifier: Apache-2.0
// Quality of service as factors: which cells are made, and the notices about targets that lack a policy.
#include <gtest/gtest.h>

#include "profiler/failure.h"
#include "profiler/plan/plan.h"

namespace icepath::plan {
namespace {

using Texts = std::vector<std::string>;

Target target(const std::string &name, uint32_t qos)
{
	Target one;
	one.name = name;
	one.library_version = "library 1";
	one.waits = {model::Wait::Block};
	one.max_payload_bytes = 4096;
	one.qos = qos;
	return one;
}

constexpr uint32_t kEvery = (1u << ICEPATH_QOS_POLICIES) - 1;

Wishes wish()
{
	Wishes wishes;
	wishes.targets = {"all"};
	wishes.patterns = {model::Pattern::PingPong};
	wishes.sizes = {64};
	return wishes;
}

Texts qos_texts(const Plan &plan)
{
	Texts texts;
	for (const model::Cell &cell : plan.cells)
		texts.push_back(cell.target + " " + model::text(cell.qos));
	return texts;
}

TEST(QosFactors, AreTheAdaptersChoiceWhereNothingIsAsked)
{
	const Plan plan = make(wish(), {target("a", kEvery)}, {0, 1});
	ASSERT_EQ(plan.cells.size(), 1u);
	EXPECT_FALSE(plan.cells[0].qos.any());
	EXPECT_FALSE(plan.cells[0].traits.has(model::Trait::Lossy));
}

TEST(QosFactors, AreEachValueWithEachOfTheOthersOnce)
{
	Wishes wishes = wish();
	wishes.qos[ICEPATH_QOS_RELIABILITY] = {ICEPATH_RELIABLE, ICEPATH_BEST_EFFORT, ICEPATH_RELIABLE};
	wishes.qos[ICEPATH_QOS_DURABILITY] = {ICEPATH_VOLATILE, ICEPATH_TRANSIENT_LOCAL};
	const Plan plan = make(wishes, {target("a", kEvery)}, {0, 1});
	EXPECT_EQ(qos_texts(plan), (Texts{"a reliable volatile", "a reliable transient-local", "a best-effort volatile",
									  "a best-effort transient-local"}));
	EXPECT_FALSE(plan.cells[0].traits.has(model::Trait::Lossy));
	EXPECT_TRUE(plan.cells[2].traits.has(model::Trait::Lossy)) << "what isn't reliable may lose messages";
	EXPECT_TRUE(plan.notices.empty());
}

TEST(QosFactors, ADepthIsOfTheLastMessages)
{
	Wishes wishes = wish();
	wishes.qos[ICEPATH_QOS_DEPTH] = {1, 16};
	EXPECT_EQ(qos_texts(make(wishes, {target("a", kEvery)}, {0, 1})),
			  (Texts{"a keep-last depth 1", "a keep-last depth 16"}));
	EXPECT_EQ(qos_texts(make(wishes, {target("a", 1u << ICEPATH_QOS_DEPTH)}, {0, 1})),
			  (Texts{"a depth 1", "a depth 16"}))
		<< "a queue's, of a library that knows no history";
	wishes.qos[ICEPATH_QOS_HISTORY] = {ICEPATH_KEEP_ALL, ICEPATH_KEEP_LAST};
	EXPECT_EQ(qos_texts(make(wishes, {target("a", kEvery)}, {0, 1})),
			  (Texts{"a keep-all", "a keep-last depth 1", "a keep-last depth 16"}));
}

TEST(QosFactors, LeaveThoseThatHaveNoneAsTheyAre)
{
	Wishes wishes = wish();
	wishes.qos[ICEPATH_QOS_RELIABILITY] = {ICEPATH_RELIABLE, ICEPATH_BEST_EFFORT};
	const Plan plan = make(wishes, {target("a", 1u << ICEPATH_QOS_RELIABILITY), target("b", 0)}, {0, 1});
	EXPECT_EQ(qos_texts(plan), (Texts{"a reliable", "a best-effort", "b "}));
	EXPECT_EQ(plan.notices, (Texts{"b has no reliability: measured without it"}));
}

TEST(QosFactors, ThatLoseMessagesAreLeftOutWhereNobodyCouldTell)
{
	Wishes wishes = wish();
	wishes.qos[ICEPATH_QOS_RELIABILITY] = {ICEPATH_RELIABLE, ICEPATH_BEST_EFFORT};
	wishes.sizes = {7, 8};
	wishes.patterns = {model::Pattern::ReqRep};
	wishes.levels[&model::Levels::responses] = {1, 2};
	const Plan plan = make(wishes, {target("a", kEvery)}, {0, 1});
	size_t lossy = 0;
	for (const model::Cell &cell : plan.cells)
		if (cell.traits.has(model::Trait::Lossy)) {
			lossy++;
			EXPECT_EQ(cell.payload_bytes, 8u);
			EXPECT_EQ(cell.levels.responses, 1u);
		}
	EXPECT_EQ(lossy, 1u);
	EXPECT_EQ(plan.cells.size(), 5u) << "what is reliable is there with all sizes and responses";
	EXPECT_EQ(plan.notices.size(), 2u);
}

TEST(QosFactors, AreRefusedWhereNobodyHasThem)
{
	Wishes wishes = wish();
	wishes.qos[ICEPATH_QOS_LIFESPAN] = {1'000'000};
	try {
		make(wishes, {target("a", 1u << ICEPATH_QOS_RELIABILITY)}, {0, 1});
		ADD_FAILURE() << "it was planned";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		EXPECT_EQ(std::string(failure.what()), "--qos: none of the targets has lifespan: icepath list shows which do");
	}
}

} // namespace
} // namespace icepath::plan
