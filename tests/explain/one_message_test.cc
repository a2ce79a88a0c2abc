// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/analyse.h"
#include "profiler/explain/one_message.h"
#include "profiler/text/blame_words.h"

#include <gtest/gtest.h>

#include "profiler/explain/remedies.h"
#include "profiler/failure.h"
#include "profiler/report/report.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::explain {
namespace {

// In the probed round 6 the hog delays answer 150 of the pingpong cell by 381 µs.
class OneMessage : public testing::Test {
protected:
	OneMessage() { write_small_run(run, true, kEnoughRounds); }
	std::string explained(const report::Question &question)
	{
		return report::explanation_of(run, question, {.unicode = true, .width = 200}).text;
	}
	std::string complaint(const report::Question &question)
	{
		try {
			return "printed: " + explained(question);
		} catch (const Failure &failure) {
			return failure.what();
		}
	}
	rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");
};

TEST_F(OneMessage, IsTheOneThatIsNamed)
{
	const analysis::RunResult result =
		analysis::analyse(run, {.tail = {}, .message = analysis::MessageName{6, 150, true}});
	ASSERT_EQ(result.cells[0].followed.asked.size(), 1u);
	EXPECT_TRUE(result.cells[1].followed.asked.empty()) << "oneway has no answers";
	const analysis::WorstMessage &message = result.cells[0].followed.asked[0];
	EXPECT_EQ(name_of(message), "6:150:back");
	EXPECT_EQ(message.latency_ns(), kPlainNs + 381'000);
	const auto there =
		analysis::analyse(run, {.tail = {}, .message = analysis::MessageName{6, 150, false}}).cells[0].followed.asked;
	ASSERT_EQ(there.size(), 1u);
	EXPECT_EQ(name_of(there[0]), "6:150");
	EXPECT_LT(there[0].latency_ns(), 10'000u);
}

TEST_F(OneMessage, HasStepsThatAddUp)
{
	const analysis::RunResult result =
		analysis::analyse(run, {.tail = {}, .message = analysis::MessageName{6, 150, true}});
	const analysis::WorstMessage &message = result.cells[0].followed.asked.at(0);
	const std::vector<MessageStep> steps = steps_of(message, result.cells[0]);
	uint64_t offset_ns = 0;
	const MessageStep *runqueue = nullptr;
	for (const MessageStep &step : steps) {
		EXPECT_EQ(step.offset_ns, offset_ns);
		offset_ns += step.ns;
		if (step.layer == model::Layer::Runqueue)
			runqueue = &step;
	}
	EXPECT_EQ(offset_ns, message.latency_ns());
	ASSERT_TRUE(runqueue);
	EXPECT_EQ(text::words_of(runqueue->blame), "CPU 0 ran kworker/1:2 (4711)");
	EXPECT_EQ(runqueue->cpu, 0u) << "where the first side, which the answer goes to, is pinned";
	ASSERT_TRUE(runqueue->of_typical);
	EXPECT_GT(*runqueue->of_typical, 200) << "typical ones wait for 1.5 µs and some more";
	EXPECT_LT(*runqueue->of_typical, 382'500 / 1500.0);
	EXPECT_EQ(steps.front().layer, model::Layer::SenderUser);
	EXPECT_NEAR(steps.front().of_typical.value_or(0), 1, 1e-9);
}

TEST_F(OneMessage, IsATable)
{
	const std::string text = explained({.message = analysis::MessageName{6, 150, true}});
	EXPECT_NE(text.find("uds-stream 64 B pingpong block: answer 150 of round 6, 386 µs (--message 6:150:back)"),
			  std::string::npos)
		<< text;
	EXPECT_NE(text.find("CPU 0 ran kworker/1:2 (4711)"), std::string::npos) << text;
	EXPECT_NE(text.find("= recv - send"), std::string::npos) << text;
	const std::string worst = explained({.cell = "pingpong", .worst = true});
	EXPECT_EQ(worst, text) << "it is the slowest one";
}

TEST_F(OneMessage, ThatDoesNotExistIsRefused)
{
	EXPECT_NE(complaint({.message = analysis::MessageName{6, 999, false}}).find("no such message"), std::string::npos);
	EXPECT_NE(complaint({.message = analysis::MessageName{0, 150, false}}).find("no blocks with probes"),
			  std::string::npos)
		<< "the first round has no probes";
	EXPECT_NE(complaint({.cell = "oneway", .message = analysis::MessageName{6, 150, true}}).find("no such message"),
			  std::string::npos);
}

} // namespace
} // namespace icepath::explain
