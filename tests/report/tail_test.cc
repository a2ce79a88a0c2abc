// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/tail.h"

#include <gtest/gtest.h>

#include <cmath>

#include "profiler/failure.h"
#include "profiler/report/report.h"
#include "profiler/rundir/container.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {
namespace {

constexpr uint64_t kSlowBy = 200'000;

// Twelve probed blocks of 300 messages each way. In `blocks` of them, the hog has the CPU for 200 µs before one in `every`
// messages is received, and it has it for `others_ns` before one in `of` others.
RunResult run_with(const rundir::TemporaryDirectory &temporary, uint32_t blocks, uint64_t every, uint64_t of = 10,
				   uint64_t others_ns = 2000)
{
	const std::string path = temporary.path("run");
	const model::Head head = small_head();
	{
		rundir::Writer writer(path, head);
		for (uint32_t round = 0; round < 24; ++round) {
			BlockPlan plan;
			plan.round = round;
			plan.probed = round % 2 == 1;
			plan.messages = 300;
			plan.delay_ns = [=](uint64_t seq, size_t) {
				if (round < 2 * blocks && seq % every == every / 2)
					return kSlowBy;
				return seq % of == of - 1 ? others_ns : uint64_t{0};
			};
			writer.add(make_block(head.cells[0], plan));
		}
		writer.finish({});
	}
	return analyse(path);
}

class Tail : public testing::Test {
protected:
	rundir::TemporaryDirectory temporary;
};

TEST_F(Tail, GrowthsOfTheLayersAddUpToThatOfTheLatency)
{
	const TailExplanation tail = explain_tail(run_with(temporary, 12, 50).cells[0]);
	ASSERT_NE(tail.verdict, TailVerdict::TooFew);
	double growth = 0;
	for (const LayerGrowth &layer : tail.layers)
		growth += layer.growth_ns();
	EXPECT_NEAR(growth, tail.growth_ns(), 1e-6 * tail.growth_ns());
	EXPECT_EQ(tail.layers[0].layer, model::Layer::Runqueue);
	EXPECT_NEAR(tail.layers[0].growth_ns(), static_cast<double>(kSlowBy), 0.02 * kSlowBy);
}

TEST_F(Tail, IsExplainedByWhatHadTheCpu)
{
	const TailExplanation tail = explain_tail(run_with(temporary, 12, 50).cells[0]);
	EXPECT_EQ(tail.verdict, TailVerdict::Explained);
	ASSERT_FALSE(tail.causes.empty());
	EXPECT_EQ(tail.causes[0].messages, tail.messages);
	EXPECT_DOUBLE_EQ(tail.causes[0].share, 1);
	EXPECT_FALSE(tail.causes[0].lift()) << "no typical message met it";
	EXPECT_NEAR(tail.causes[0].when_there_ns, static_cast<double>(kSlowBy), 0.02 * kSlowBy);
	double named_ns = 0; // all of it in runqueue, which has no name in typical messages
	for (const TailCause &cause : tail.causes)
		named_ns += cause.growth_ns;
	EXPECT_GT(named_ns, 0.95 * tail.layers[0].growth_ns());
	EXPECT_LE(named_ns, tail.layers[0].tail_ns) << "no nanosecond is counted twice";
	EXPECT_DOUBLE_EQ(tail.named, std::min(1.0, named_ns / tail.growth_ns()));
	EXPECT_EQ(tail.blocks, tail.of_blocks);
}

TEST(TailCauses, AreComparedWithTypicalMessages)
{
	TailCause cause;
	cause.share = 0.6;
	cause.typical_share = 0.2;
	EXPECT_NEAR(*cause.lift(), 3, 1e-9);
}

// Every second message waits 3 µs for the hog, typical ones among them.
TEST_F(Tail, CountsWhatTypicalMessagesMetAsWell)
{
	const TailExplanation tail = explain_tail(run_with(temporary, 12, 50, 2, 3000).cells[0]);
	ASSERT_FALSE(tail.causes.empty());
	EXPECT_NEAR(tail.causes[0].typical_share, 0.5, 0.1);
	EXPECT_NEAR(*tail.causes[0].lift(), 2, 0.4);
	EXPECT_NEAR(tail.causes[0].growth_ns, static_cast<double>(kSlowBy) - 1500, 0.02 * kSlowBy);
}

TEST_F(Tail, OfFewBlocksIsNotExplained)
{
	EXPECT_EQ(explain_tail(run_with(temporary, 2, 10).cells[0]).verdict, TailVerdict::TooFew);
}

TEST_F(Tail, IsPrintedForTheCellsThatWereAskedFor)
{
	const RunResult result = run_with(temporary, 12, 50);
	Page page({false, true}, 100);
	add_tails(page, result, "pingpong");
	const std::string text = page.take();
	EXPECT_NE(text.find("verdict   explained"), std::string::npos) << text;
	EXPECT_NE(text.find("= recv - send"), std::string::npos) << text;
	add_tails(page, result, "no such cell");
	EXPECT_EQ(page.take(), "");
	EXPECT_THROW((void)tails_of(temporary.path("run"), "no such cell", {}), Failure);
}

} // namespace
} // namespace icepath::report
