// SPDX-License-Identifier: Apache-2.0
// What a report shows of the machine and of the measuring processes: levels, modes, drift, and each block's losses.
#include "profiler/text/terminal.h"

#include <functional>
#include <gtest/gtest.h>

#include "profiler/analysis/analyse.h"
#include "profiler/analysis/line_levels.h"
#include "profiler/explain/notices.h"
#include "profiler/exports/run_json.h"
#include "profiler/rundir/container.h"
#include "profiler/text/finding_words.h"
#include "tests/model/own_window.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::text {
namespace {

using nlohmann::json;

model::CacheLine line_of(const std::vector<uint64_t> &round_trips)
{
	model::CacheLine line{0, 1};
	for (const uint64_t took_ns : round_trips)
		line.times.push_back({7'000'000'000 + 500'000'000 * line.times.size(), took_ns});
	return line;
}

std::vector<uint64_t> times_of(const std::vector<analysis::LineLevel> &levels)
{
	std::vector<uint64_t> times;
	for (const analysis::LineLevel &level : levels)
		times.push_back(level.round_trip_ns);
	return times;
}

TEST(LineLevels, OneThatStaysIsOne)
{
	EXPECT_EQ(times_of(analysis::levels_of(line_of({50, 60, 55, 70, 52}))), (std::vector<uint64_t>{55}));
	EXPECT_EQ(times_of(analysis::levels_of(line_of({50, 340, 55}))), (std::vector<uint64_t>{55}))
		<< "one look that stands alone";
	EXPECT_EQ(times_of(analysis::levels_of(line_of({50, 340, 900, 55}))).size(), 1u) << "two that stand alone";
	EXPECT_TRUE(analysis::levels_of(line_of({})).empty());
}

TEST(LineLevels, AChangeThatStaysIsAnother)
{
	const model::CacheLine line = line_of({330, 320, 340, 80, 82, 81, 79, 325});
	const auto levels = analysis::levels_of(line);
	EXPECT_EQ(times_of(levels), (std::vector<uint64_t>{330, 81, 325})) << "the last look may stand alone";
	EXPECT_EQ(levels[1].from_ns, 1'500'000'000u);
	EXPECT_EQ(levels[1].looks, 4u);
	EXPECT_EQ(analysis::levels_text(line, levels),
			  "took 330 ns from CPU 0 to CPU 1 and back, 81 ns from 1.5 s on, 325 ns from 3.5 s on");
	const model::CacheLine restless = line_of({330, 330, 80, 80, 330, 330, 80, 80, 330, 330});
	EXPECT_EQ(analysis::levels_text(restless, analysis::levels_of(restless)),
			  "took 330 ns from CPU 0 to CPU 1 and back, and between 80 ns and 330 ns later: it changed 4 times");
}

// A run of the oneway cell with one pair of blocks for each opening. Probes add 200 ns.
class RunStateTest : public testing::Test {
protected:
	rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");
	model::Tail tail{"2026-01-02T03:04:15Z", false, 2, {}};

	analysis::RunResult of(const std::vector<uint64_t> &delay_of_opening, size_t pairs_each = 1)
	{
		model::Head head = small_head();
		head.cells.erase(head.cells.begin());
		rundir::Writer writer(run, head);
		for (uint32_t round = 0; round < 2 * pairs_each * delay_of_opening.size(); ++round) {
			const auto opening = static_cast<uint32_t>(round / 2 / pairs_each);
			BlockPlan plan;
			plan.round = round;
			plan.probed = round % 4 == 0 || round % 4 == 3;
			plan.delay_ns = [&](uint64_t seq, size_t) -> uint64_t {
				return delay_of_opening[opening] + 5 * seq + 3 * (round % 5) + (plan.probed ? 200 : 0);
			};
			model::Block block = make_block(head.cells[0], plan);
			block.opening = opening;
			model::Window &window = own_window(block);
			window.begin.monotonic_ns = 1'000'000'000ull * (round + 1);
			window.steal_ns = 10'000'000 * (round % 2);
			window.own_cpu_ns = 1000 + round;
			change(block);
			writer.add(block);
		}
		writer.finish(tail);
		return analysis::analyse(run);
	}
	std::function<void(model::Block &)> change = [](model::Block &) {};

	static std::string notices_of(const analysis::RunResult &result)
	{
		std::string text;
		for (const std::string &notice : text::notice_sentences(result))
			text += notice + "\n";
		return text;
	}
};

TEST_F(RunStateTest, AMachineThatChangedMeanwhileIsTold)
{
	tail.cache_lines = {line_of({51, 50, 52, 340, 341, 339})};
	const analysis::RunResult result = of({0, 0, 0});
	EXPECT_NE(notices_of(result).find(
				  "the machine changed during this run: a cache line took 51 ns from CPU 0 to CPU 1 and back, "
				  "340 ns from 1.5 s on"),
			  std::string::npos)
		<< notices_of(result);
	const json told = exports::run_json(result)["machine_state"]["cache_line"];
	ASSERT_EQ(told.size(), 1u);
	EXPECT_EQ(told[0]["levels"], (json{{{"from_s", 0.0}, {"round_trip_ns", 51}, {"looks", 3}},
									   {{"from_s", 1.5}, {"round_trip_ns", 340}, {"looks", 3}}}));
	EXPECT_EQ(told[0]["round_trip_ns"], (json{51, 50, 52, 340, 341, 339}));
}

TEST_F(RunStateTest, AMachineThatStayedIsTold)
{
	tail.cache_lines = {line_of({51, 50, 52})};
	const analysis::RunResult result = of({0, 0, 0});
	EXPECT_EQ(notices_of(result).find("machine changed"), std::string::npos);
	EXPECT_EQ(notices_of(result).find("no probe sees"), std::string::npos);
	EXPECT_NE(
		terminal_report(result, {.unicode = true, .verbose = true}).find("a cache line took 51 ns from CPU 0 to CPU 1"),
		std::string::npos);
}

TEST_F(RunStateTest, InterruptsThatNoProbeTellsAreCounted)
{
	tail.untraced_interrupts = {{"HVS", "Hyper-V stimer0 interrupts", 1200}, {"XYZ", "", 34}};
	const analysis::RunResult result = of({0, 0, 0});
	EXPECT_NE(notices_of(result).find("no probe sees 1234 of the interrupts of the measured CPUs (Hyper-V stimer0 "
									  "interrupts 1200, XYZ 34)"),
			  std::string::npos)
		<< notices_of(result);
	const json told = exports::run_json(result)["machine_state"]["untraced_interrupts"];
	EXPECT_EQ(told, (json{{{"label", "HVS"}, {"name", "Hyper-V stimer0 interrupts"}, {"count", 1200}},
						  {{"label", "XYZ"}, {"name", ""}, {"count", 34}}}));
}

TEST_F(RunStateTest, ARealTimeKernelIsNamed)
{
	const analysis::RunResult result = of({0, 0, 0});
	EXPECT_EQ(terminal_report(result, {.unicode = true}).find("PREEMPT_RT"), std::string::npos);
	analysis::RunResult other = result;
	other.head.host.kernel = "6.12.1-rt-amd64";
	other.head.host.preempt_rt = true;
	EXPECT_NE(terminal_report(other, {.unicode = true}).find("kernel 6.12.1-rt-amd64 PREEMPT_RT"), std::string::npos);
}

TEST_F(RunStateTest, TwoModesAreTold)
{
	const analysis::RunResult result = of({0, 3000, 20, 3010, 0, 10, 3000, 15, 10, 3020, 5, 0});
	EXPECT_NE(notices_of(result).find("in 8 and 4 openings of fresh processes"), std::string::npos)
		<< notices_of(result);
	const json openings = exports::run_json(result)["cells"][0]["openings"];
	ASSERT_EQ(openings["modes"].size(), 2u);
	EXPECT_EQ(openings["modes"][0]["openings"], 8);
	EXPECT_EQ(openings["modes"][1]["openings"], 4);
	EXPECT_NEAR(openings["modes"][1]["p50_ns"].get<double>() - openings["modes"][0]["p50_ns"].get<double>(), 3000, 30);
	EXPECT_EQ(openings["differ"], true);
}

TEST_F(RunStateTest, DriftIsTold)
{
	std::vector<uint64_t> later;
	for (uint64_t opening = 0; opening < 10; ++opening)
		later.push_back(60 * opening);
	const analysis::RunResult rising = of(later);
	EXPECT_NE(notices_of(rising).find("p50 rose by 9"), std::string::npos) << notices_of(rising);
	const json drift = exports::run_json(rising)["cells"][0]["drift"];
	EXPECT_EQ(drift["told"], true);
	EXPECT_NEAR(drift["p50_ratio"].get<double>(), 1 + 540.0 / 5560, 0.01);
}

TEST_F(RunStateTest, WithoutDriftNoneIsTold)
{
	const analysis::RunResult result = of({0, 30, 10, 20, 5, 25, 15, 20, 0, 30});
	EXPECT_EQ(notices_of(result).find("p50 "), std::string::npos) << notices_of(result);
	EXPECT_EQ(exports::run_json(result)["cells"][0]["drift"]["told"], false);
	EXPECT_TRUE(exports::run_json(result)["cells"][0]["openings"]["modes"].empty());
}

TEST_F(RunStateTest, WhatEachBlockLostStandsByBlock)
{
	change = [](model::Block &block) {
		model::Window &window = own_window(block);
		if (window.round == 3) {
			window.slots[0].position += 7; // dropped
			window.skipped = {{0, UINT64_MAX, 5}};
		}
		if (window.round == 4)
			window.slots[1].records[3].type = 250; // of a later version
		if (window.round == 5)
			window.own_cpu_ns.reset();
	};
	const json told = exports::run_json(of({0, 0, 0}))["cells"][0]["capture"];
	const json &by_block = told["by_block"];
	EXPECT_EQ(by_block["round"], (json{0, 1, 2, 3, 4, 5}));
	EXPECT_EQ(by_block["probed"], (json{true, false, false, true, true, false}));
	EXPECT_EQ(by_block["dropped"], (json{0, 0, 0, 7, 0, 0}));
	EXPECT_EQ(by_block["recursion_misses"], (json{0, 0, 0, 5, 0, 0}));
	EXPECT_EQ(by_block["unreadable"], (json{0, nullptr, nullptr, 0, 1, nullptr}));
	EXPECT_EQ(by_block["steal_ns"], (json{0, 10'000'000, 0, 10'000'000, 0, 10'000'000}));
	EXPECT_EQ(by_block["own_cpu_ns"], (json{1000, 1001, 1002, 1003, 1004, nullptr}));
	EXPECT_EQ(told["dropped"], 7);
	EXPECT_GT(by_block["records"][0], 0);
	EXPECT_EQ(by_block["records"][1], 0);
}

// Two pairs of blocks for each opening, and openings that differ: blocks of one aren't independent evidence.
TEST_F(RunStateTest, LayersAndWhatProbesAddAreOverOpeningsAsPercentilesAre)
{
	const analysis::CellResult cell = of({0, 900, 100, 700, 300}, 2).cells[0];
	EXPECT_EQ(cell.openings.count, 5u);
	EXPECT_EQ(cell.times.latency.clusters, 5u);
	ASSERT_TRUE(cell.observer_effect.p50 && cell.observer_effect.p50->interval);
	EXPECT_EQ(cell.observer_effect.p50->pairs, 10u);
	std::vector<double> weights, runqueue;
	std::vector<uint32_t> openings;
	for (const analysis::LayerRow &row : cell.paths.layers.rows())
		if (row.layer == model::Layer::Runqueue)
			runqueue = row.by_block;
	for (uint32_t block = 0; block < runqueue.size(); ++block) {
		weights.push_back(100);
		openings.push_back(block / 2);
	}
	ASSERT_EQ(runqueue.size(), 10u);
	const auto by_opening = stats::RedrawnMeans(weights, openings).interval(runqueue);
	const auto told = cell.paths.layers.means().interval(runqueue);
	ASSERT_TRUE(told && by_opening);
	EXPECT_DOUBLE_EQ(told->low, by_opening->low);
	EXPECT_DOUBLE_EQ(told->high, by_opening->high);
}

// Rounds 0 and 3 are empty. With round 2 probed as well, 1 and 2 would be a pair, but they are of different processes.
TEST_F(RunStateTest, BlocksOfTwoOpeningsAreNoPair)
{
	change = [](model::Block &block) {
		if (block.window->round == 0 || block.window->round == 3)
			block.flows[0].recvs.clear();
		if (block.window->round == 2)
			own_window(block).probed = true;
	};
	const auto effect = of({0, 0, 0}).cells[0].observer_effect.p50;
	ASSERT_TRUE(effect);
	EXPECT_EQ(effect->pairs, 1u);
}

} // namespace
} // namespace icepath::text
