// SPDX-License-Identifier: Apache-2.0
// explain --json: docs/explain-schema.json, and figures that add up.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "profiler/analysis/analyse.h"
#include "profiler/explain/against.h"
#include "profiler/exports/explain_json.h"
#include "profiler/exports/run_json.h"
#include "profiler/report/report.h"
#include "tests/folders.h"
#include "tests/report/schema_check.h"
#include "tests/report/two_cells.h"
#include "tests/rundir/example_run.h"

namespace icepath::exports {
namespace {

using nlohmann::json;

class ExplainJson : public testing::Test {
protected:
	// Two pingpong cells, of which the first is slower, each with a slow message in fifty.
	ExplainJson()
	{
		write_two_cells(run, {.first = "uds-stream",
							  .second = "quick",
							  .delay_ns =
								  [](uint32_t cell, uint32_t round, uint64_t seq) {
									  return 1 + 10 * seq + round + (cell == 0 ? 4000 : 0) +
											 (seq % 50 == 7 ? 90'000 : 0);
								  },
							  .messages = 200});
	}

	json answer(report::Question question)
	{
		question.json = true;
		json told = json::parse(report::explanation_of(run, question, {}).text);
		const std::vector<std::string> complaints = schema_complaints(schema, told);
		EXPECT_TRUE(complaints.empty()) << complaints.front();
		return told;
	}
	static void adds_up(const json &difference)
	{
		int64_t whole_ns = 0;
		for (const json &kind : difference.at("kinds")) {
			int64_t kind_ns = 0;
			for (const json &row : kind.at("rows"))
				kind_ns += row.at("difference_ns").get<int64_t>();
			EXPECT_EQ(kind_ns, kind.at("difference_ns"));
			whole_ns += kind_ns;
		}
		EXPECT_EQ(whole_ns, difference.at("difference_ns"));
	}

	rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");
	const json schema = json::parse(std::ifstream(test::in_source("docs/explain-schema.json")));
};

TEST_F(ExplainJson, OfATail)
{
	const json told = answer({});
	EXPECT_EQ(told.at("tail_percent"), 99);
	ASSERT_EQ(told.at("cells").size(), 2u);
	const auto &cell = told.at("cells")[0];
	EXPECT_EQ(cell.at("verdict"), "explained");
	EXPECT_EQ(cell.at("causes")[0].at("name"), "kworker/1:2");
	EXPECT_EQ(cell.at("next")[0].at("cause"), "task");
	EXPECT_NEAR(cell.at("growth").at("difference_ns").get<double>(), 90'000, 2000);
	EXPECT_EQ(cell.at("begin_with_probes").at("ns"), cell.at("from_ns"));
	EXPECT_EQ(cell.at("as_without_probes"), true);
	adds_up(cell.at("growth"));
}

TEST_F(ExplainJson, OfTwoCells)
{
	const json told = answer({.cell = "uds-stream", .against = "quick"});
	EXPECT_EQ(told.at("slower").at("cell"), json(run_json(analysis::analyse(run))).at("cells")[0].at("key"));
	EXPECT_EQ(told.at("as_asked"), true);
	EXPECT_TRUE(told.at("refusal").is_null());
	EXPECT_GT(told.at("pair").at("ratio_ci95")[0], 1);
	EXPECT_NEAR(told.at("difference").at("difference_ns").get<double>(), 4000, 20);
	EXPECT_EQ(told.at("difference").at("kinds")[0].at("kind"), "waiting for a CPU");
	adds_up(told.at("difference"));
	EXPECT_EQ(told.at("unknown").at("slower").at("messages"), 0);
	EXPECT_EQ(told.at("unknown").at("slower").at("of_messages"), told.at("unknown").at("faster").at("of_messages"));
	EXPECT_NEAR(told.at("mean_longer_ns").at("known").get<double>(), 4000, 20);
	EXPECT_NEAR(told.at("mean_longer_ns").at("all").get<double>(), 4000, 20);
	EXPECT_TRUE(told.at("others").empty());
	const auto refused = answer({.cell = "quick", .against = "quick"});
	EXPECT_TRUE(refused.at("difference").is_null());
	EXPECT_TRUE(refused.at("refusal").is_string());
}

TEST_F(ExplainJson, SharesAreNullWhereAPartIsMoreThanTheWhole)
{
	const analysis::RunResult result = analysis::analyse(run);
	explain::Against against = explain::explain_named(result, {"uds-stream", "quick"});
	ASSERT_TRUE(against.difference);
	for (const uint64_t whole_ns : {1, 0}) {
		against.difference->of.b_ns = against.difference->of.a_ns - whole_ns;
		const json told = json::parse(against_json(result, against));
		const std::vector<std::string> complaints = schema_complaints(schema, told);
		EXPECT_TRUE(complaints.empty()) << complaints.front();
		const auto &kind = told.at("difference").at("kinds")[0];
		EXPECT_TRUE(kind.at("share").is_null() && kind.at("share_ci95").is_null());
		EXPECT_TRUE(kind.at("rows")[0].at("share").is_null());
		for (const auto &next : told.at("next"))
			EXPECT_TRUE(next.at("share").is_null());
	}
}

TEST_F(ExplainJson, OfAMessage)
{
	const json told = answer({.cell = "quick", .message = analysis::MessageName{1, 57, false}});
	ASSERT_EQ(told.at("messages").size(), 1u);
	const auto &message = told.at("messages")[0];
	EXPECT_EQ(message.at("name"), "1:57");
	EXPECT_EQ(message.at("reason"), "complete");
	uint64_t ns = 0;
	for (const auto &step : message.at("steps"))
		ns += step.at("ns").get<uint64_t>();
	EXPECT_EQ(ns, message.at("latency_ns"));
	const auto wait =
		std::ranges::find(message.at("steps"), "runqueue", [](const json &step) { return step["layer"]; });
	ASSERT_NE(wait, message.at("steps").end());
	EXPECT_EQ(wait->at("cpu"), 1);
	// The task came 100 ns after the thread was runnable, and left 100 ns before it ran.
	EXPECT_EQ(wait->at("taken"), (json{{{"name", "kworker/1:2"}, {"ns", wait->at("ns").get<uint64_t>() - 200}},
									   {{"name", "unknown"}, {"ns", 200}}}));
	for (const auto &step : message.at("steps"))
		EXPECT_EQ(step.at("taken").empty(), step.at("layer") != "runqueue") << step.dump();
	EXPECT_EQ(answer({.worst = true}).at("messages").size(), 2u);
}

TEST_F(ExplainJson, TooFewHaveNoGrowth)
{
	const json told = answer({.tail = stats::kP99_99});
	EXPECT_EQ(told.at("cells")[0].at("verdict"), "too few");
	EXPECT_TRUE(told.at("cells")[0].at("growth").is_null());
	EXPECT_TRUE(told.at("cells")[0].at("refusal").is_string());
}

} // namespace
} // namespace icepath::exports
