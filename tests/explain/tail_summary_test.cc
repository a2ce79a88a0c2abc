// SPDX-License-Identifier: Apache-2.0
// The tails of all cells on one screen.
#include "profiler/explain/tail_summary.h"

#include <gtest/gtest.h>

#include "profiler/text/columns.h"
#include "profiler/text/tail_summary_lines.h"
#include "tests/report/lines_of.h"
#include "tests/report/one_screen.h"

namespace icepath::explain {
namespace {

// Of whose growth of 10 µs a task took `share`, and the rest has no name. A typical message takes 10 µs.
TailExplanation tail_with(double share, const char *task = "hog", uint64_t growth_ns = 10'000)
{
	TailExplanation tail;
	tail.verdict = share >= kExplained ? TailVerdict::Explained : TailVerdict::Unexplained;
	tail.growth.of.a_ns = 10'000 + growth_ns;
	tail.growth.of.b_ns = 10'000;
	tail.named = share;
	Cause &cause = tail.causes.emplace_back();
	cause.name = task;
	cause.origin = analysis::Origin::OthersTask;
	cause.share = 1;
	cause.growth_ns = share * static_cast<double>(growth_ns);
	cause.growth_interval = stats::Interval{1, 2};
	cause.more_often = stats::Interval{0.1, 0.2};
	tail.remedies = {{RemedyId::Task, share, cause.growth_ns, {Way::TakeOtherCpus}, {{task}}}};
	return tail;
}

TEST(TailSummary, AddsUpCausesByWhatTheyAre)
{
	const std::vector<TailExplanation> tails = {tail_with(0.85), tail_with(0.3), tail_with(0.05),
												tail_with(0.6, "cc1")};
	const TailSummary summary = summary_of({4, 5, 6, 7}, tails);
	ASSERT_EQ(summary.causes.size(), 3u);
	EXPECT_EQ(summary.causes[0].cells, (std::vector<size_t>{6, 5, 7, 4})) << "without a name, most of it first";
	EXPECT_FALSE(summary.causes[0].origin);
	EXPECT_EQ(summary.causes[1].name, "hog");
	EXPECT_EQ(summary.causes[1].cells, (std::vector<size_t>{4, 5})) << "a twentieth isn't worth a row";
	EXPECT_EQ(summary.causes[2].cells, std::vector<size_t>{7});
	ASSERT_EQ(summary.remedies.size(), 1u) << "one, whatever it names";
	EXPECT_EQ(summary.remedies[0].cells, 4u);
	EXPECT_EQ(summary.remedies[0].remedy.of.names, std::vector<std::string>{"hog"}) << "of the largest share";
	EXPECT_EQ(summary.remedies[0].cell, 4u);
	EXPECT_TRUE(summary.unlike.empty());
	EXPECT_EQ(summary.verdicts[static_cast<size_t>(TailVerdict::Explained)], 1u);
}

TEST(TailSummary, LeavesOutWhatIsByChance)
{
	std::vector<TailExplanation> tails = {tail_with(0.9)};
	tails[0].causes[0].growth_interval = stats::Interval{-1, 2};
	tails[0].named = 0;
	const TailSummary summary = summary_of({0}, tails);
	ASSERT_EQ(summary.causes.size(), 1u);
	EXPECT_EQ(summary.causes[0].name, "") << "no named cause";
	tails[0].causes[0].is_of_told_kind = true;
	ASSERT_EQ(summary_of({0}, tails).causes.size(), 2u);
	EXPECT_EQ(summary_of({0}, tails).causes[1].name, "") << "which it is isn't told";
	EXPECT_EQ(summary_of({0}, tails).causes[1].origin, analysis::Origin::OthersTask);
	tails[0].verdict = TailVerdict::NotTold;
	EXPECT_TRUE(summary_of({0}, tails).causes.empty());
}

TEST(TailSummary, NamesCellsUnlikeTheRest)
{
	std::vector<TailExplanation> tails(5, tail_with(0.9));
	tails[3] = tail_with(0.9, "hog", 1'000'000);
	const TailSummary summary = summary_of({0, 1, 2, 3, 4}, tails);
	EXPECT_EQ(summary.median_times, 2);
	ASSERT_EQ(summary.unlike.size(), 1u);
	EXPECT_EQ(summary.unlike[0].first, 3u);
	EXPECT_DOUBLE_EQ(summary.unlike[0].second, 101);
}

TEST(TailSummary, IsOneScreen)
{
	const analysis::RunResult result = run_of_35_cells();
	std::vector<size_t> cells;
	std::vector<TailExplanation> tails;
	for (size_t i = 0; i < result.cells.size(); ++i) {
		cells.push_back(i);
		tails.push_back(tail_with(0.9, ("task " + std::to_string(i)).c_str(), 10'000 * (i + 1) * (i + 1)));
	}
	tails[0] = {};
	tails[0].refusal = Finding{.id = FindingId::TailNotSlower};
	text::Page page({false, true}, 100);
	text::add_tail_summary(page, result, cells, tails);
	const std::string text = page.take();
	EXPECT_LE(lines_of(text).size(), 40u) << text;
	for (const std::string &line : lines_of(text))
		EXPECT_LE(text::columns(line), 100u) << line;
	EXPECT_NE(text.find("of 35 cells: 34 explained, 1 too few"), std::string::npos) << text;
	EXPECT_NE(text.find("(a task of others)"), std::string::npos) << text;
	EXPECT_NE(text.find("take no longer than typical ones"), std::string::npos) << text;
	EXPECT_NE(text.find("next      34 cells, 90 % of the growth: tasks on these CPUs (task 1): take other"),
			  std::string::npos)
		<< text;
}

} // namespace
} // namespace icepath::explain
