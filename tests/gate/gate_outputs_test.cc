// SPDX-License-Identifier: Apache-2.0
// What gates find, in words and in files.
#include <gtest/gtest.h>

#include "profiler/analysis/analyse.h"
#include "profiler/exports/gate_files.h"
#include "profiler/exports/tracker_files.h"
#include "profiler/text/gate_lines.h"
#include "profiler/text/markdown.h"
#include "tests/report/two_cells.h"
#include "tests/rundir/example_run.h"

namespace icepath {
namespace {

constexpr const char *kHostileTarget = "<b>&\"|`@a[x](y)";

class GateOutputs : public testing::Test {
protected:
	GateOutputs()
	{
		const rundir::TemporaryDirectory temporary;
		write_two_cells(temporary.path("run"), {"tcp", kHostileTarget, [](uint32_t, uint32_t round, uint64_t seq) {
													return (seq * 37 + round * 101) % 1000;
												}});
		result = analysis::analyse(temporary.path("run"));
	}

	gate::Judgement judged(const std::vector<std::string> &expectations)
	{
		return gate::judge(result, {gate::gate_of_all(expectations, "a \"gate\"")});
	}
	// With the limit of the first expectation within the interval.
	gate::Judgement undecided(gate::Undecided what)
	{
		gate::Gate gate = gate::gate_of_all({"p50 < 8us"}, "g");
		gate.expectations[0].limit = static_cast<double>(*result.cells[0].times.latency.percentiles[0]);
		gate.undecided = what;
		return gate::judge(result, {gate});
	}
	static bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

	analysis::RunResult result;
};

TEST_F(GateOutputs, LinesTellWhatIsNotMet)
{
	const std::string lines = text::gate_lines(judged({"p50 < 8us", "p50 < 1us", "p99.999 < 1s"}), {.width = 200});
	EXPECT_TRUE(has(lines, "2 met, 2 missed, 2 missing")) << lines;
	EXPECT_TRUE(has(lines, "missed    p50 < 1us")) << lines;
	EXPECT_TRUE(has(lines, "too few messages")) << lines;
	EXPECT_FALSE(has(lines, "p50 < 8us")) << lines;
	EXPECT_TRUE(has(text::gate_lines(judged({"p50 < 8us"}), {.width = 200, .verbose = true}), "p50 < 8us"));
	EXPECT_TRUE(has(text::gate_lines(undecided(gate::Undecided::Warns), {.width = 200}), "only warns"));
	EXPECT_FALSE(has(text::gate_lines(undecided(gate::Undecided::Fails), {.width = 200}), "only warns"));
}

TEST_F(GateOutputs, JunitHasWhatIsUndecidedAsAnError)
{
	const std::string failed = exports::junit_xml(result, judged({"p50 < 8us", "p50 < 1us", "p99.999 < 1s"}));
	EXPECT_TRUE(has(failed, "tests=\"6\" failures=\"2\" errors=\"2\"")) << failed;
	EXPECT_TRUE(has(failed, "name=\"a &quot;gate&quot;\"")) << failed;
	EXPECT_TRUE(has(failed, "&lt;b&gt;&amp;")) << failed;
	EXPECT_FALSE(has(failed, "<b>")) << failed;
	EXPECT_FALSE(has(failed, "<skipped"));
	EXPECT_TRUE(has(exports::junit_xml(result, undecided(gate::Undecided::Fails)), "errors=\"2\""));
	const std::string warned = exports::junit_xml(result, undecided(gate::Undecided::Warns));
	EXPECT_TRUE(has(warned, "errors=\"0\"")) << warned;
	EXPECT_TRUE(has(warned, "<system-out>undecided")) << warned;
	result.tail->interrupted = true;
	const std::string partial = exports::junit_xml(result, undecided(gate::Undecided::Warns));
	EXPECT_TRUE(has(partial, "tests=\"3\" failures=\"0\" errors=\"1\"")) << partial;
}

// A tracker takes a value for one of all messages.
TEST_F(GateOutputs, TrackersGetNoFigureOfACellThatLostOrFailed)
{
	EXPECT_TRUE(has(exports::benchmark_action_json(result), "64B own mean")) << exports::benchmark_action_json(result);
	for (analysis::CellResult &cell : result.cells)
		cell.messages.lost = 1;
	const std::string lossy = exports::bencher_json(result);
	EXPECT_FALSE(has(lossy, "\"mean\"")) << lossy;
	EXPECT_TRUE(has(lossy, "\"p50\"")) << "one of so many";
	EXPECT_TRUE(has(lossy, "\"lost\"")) << lossy;
	for (analysis::CellResult &cell : result.cells)
		cell.blocks.failed = 1;
	EXPECT_EQ(exports::bencher_json(result), "{}\n");
	EXPECT_EQ(exports::benchmark_action_json(result), "[]\n");
	EXPECT_TRUE(has(exports::otava_csv(result), ",nan,nan")) << exports::otava_csv(result);
	result.truncated = true;
	EXPECT_THROW(exports::otava_csv(result), Failure);
	EXPECT_THROW(exports::bencher_json(result), Failure);
	EXPECT_THROW(exports::benchmark_action_json(result), Failure);
}

TEST_F(GateOutputs, ASummaryIsNoMarkupAndFitsAComment)
{
	const std::string page = exports::summary_markdown(result, judged({"p50 < 8us", "p50 < 1us"}));
	EXPECT_TRUE(has(page, "### icepath: 2 met, 2 missed")) << page;
	EXPECT_LT(page.find("| missed |"), page.find("| met |")) << page;
	for (const char *markup : {"<b>", "@a", "[x]", "`"})
		EXPECT_FALSE(has(page, markup)) << page;
	const std::vector<std::string> many(2000, "p50 < 8us");
	const std::string cut = exports::summary_markdown(result, judged(many));
	EXPECT_LE(cut.size(), text::kLongestComment);
	EXPECT_TRUE(has(cut, "more lines have no room here")) << cut.substr(cut.size() - 1000);
	EXPECT_TRUE(has(cut, "| cell | p50")); // the figures have their room
}

} // namespace
} // namespace icepath
