// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/analyse.h"
#include "profiler/analysis/event_counts.h"

#include <fstream>
#include <gtest/gtest.h>

#include <cerrno>

#include "profiler/exports/run_json.h"
#include "profiler/rundir/container.h"
#include "profiler/text/terminal.h"
#include "tests/folders.h"
#include "tests/report/schema_check.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {
namespace {

using model::Counters;
using nlohmann::json;

Counters counted(uint64_t cycles, uint64_t instructions)
{
	Counters counters;
	counters.migrations = {0, 1, 0, 0};
	counters.cycles = {0, cycles, 100, 100};
	counters.instructions = {0, instructions, 100, 100};
	counters.cache_references = counters.cache_misses = {0, 60, 100, 50};
	counters.branches = {ENOENT, 0, 0, 0};
	counters.branch_misses = {0, 5, 100, 0};
	return counters;
}

Counters refused(int32_t error)
{
	Counters counters;
	for (const model::CounterField &field : model::kCounterFields)
		counters.*field.count = {error, 0, 0, 0};
	counters.migrations = {0, 0, 0, 0};
	return counters;
}

model::Block block_with(const Counters &sender, const Counters &receiver)
{
	model::Block block = block_of(1);
	block.sides[0].counters = sender;
	block.sides[1].counters = receiver;
	return block;
}

TEST(CounterTotals, ReceiversAddUpWhereAllOfThemCounted)
{
	analysis::CounterTotals totals;
	model::Block block = block_with(counted(1000, 1500), counted(4000, 1000));
	block.sides.push_back(block.sides[1]);
	totals.add(block, model::star(1, {0, 1, 1}, model::Between::Processes, false), 10);
	block.sides[2].counters = refused(EACCES);
	totals.add(block, model::star(1, {0, 1, 1}, model::Between::Processes, false), 10);
	EXPECT_EQ(totals.ends[0].of(&Counters::cycles).messages, 20u);
	EXPECT_EQ(totals.ends[1].of(&Counters::cycles).counted, 8000);
	EXPECT_EQ(totals.ends[1].of(&Counters::cycles).messages, 10u) << "one of two would be taken for both";
}

TEST(CounterTotals, SidesThatBeginNeedNotComeFirst)
{
	model::Graph graph = model::Cell().graph;
	graph.channels[0].begins = 1;
	analysis::CounterTotals totals;
	totals.add(block_with(counted(1000, 1500), counted(4000, 1000)), graph, 10);
	EXPECT_EQ(totals.ends[0].of(&Counters::cycles).counted, 4000);
	EXPECT_EQ(totals.ends[1].of(&Counters::cycles).counted, 1000);
}

TEST(CounterTotals, AddUpBlockByBlockEachWithItsOwnMessages)
{
	analysis::CounterTotals totals;
	totals.add(block_with(refused(model::kNotAsked), refused(model::kNotAsked)), model::Cell().graph, 100);
	totals.add(block_with(counted(1000, 1500), counted(4000, 1000)), model::Cell().graph, 10);
	totals.add(block_with(counted(1000, 2500), refused(EACCES)), model::Cell().graph, 30);
	const analysis::SideCounters &sender = totals.ends[0], &receiver = totals.ends[1];
	EXPECT_TRUE(totals.asked);
	EXPECT_EQ(sender.of(&Counters::cycles).counted, 2000);
	EXPECT_EQ(sender.of(&Counters::cycles).messages, 40u);
	EXPECT_EQ(sender.of(&Counters::cycles).per_message(), 50);
	EXPECT_EQ(sender.of(&Counters::migrations).counted, 2);
	EXPECT_EQ(sender.of(&Counters::migrations).messages, 140u);
	EXPECT_EQ(analysis::instructions_per_cycle({&sender}), 2);
	EXPECT_EQ(receiver.of(&Counters::cycles).counted, 4000);
	EXPECT_EQ(receiver.of(&Counters::cycles).messages, 10u);
	EXPECT_EQ(analysis::instructions_per_cycle({&receiver}), 0.25);
	EXPECT_EQ(analysis::instructions_per_cycle({&sender, &receiver}), 5000.0 / 6000);
}

TEST(CounterTotals, TellWhatWasMultiplexed)
{
	analysis::CounterTotals totals;
	totals.add(block_with(counted(10, 10), {}), model::Cell().graph, 10);
	totals.add(block_with(counted(10, 10), {}), model::Cell().graph, 10);
	const analysis::CounterTotal &misses = totals.ends[0].of(&Counters::cache_misses);
	EXPECT_EQ(misses.counted, 240);
	EXPECT_EQ(misses.running_share(), 0.5);
	EXPECT_FALSE(totals.ends[0].of(&Counters::cycles).running_share());
	EXPECT_FALSE(totals.ends[0].of(&Counters::migrations).running_share());
}

TEST(CounterTotals, WhatIsAbsentHasNoNumberButAReason)
{
	analysis::CounterTotals totals;
	totals.add(block_with(counted(10, 10), refused(EACCES)), model::Cell().graph, 10);
	const analysis::SideCounters &sender = totals.ends[0], &receiver = totals.ends[1];
	EXPECT_FALSE(sender.of(&Counters::branches).per_message());
	EXPECT_EQ(sender.of(&Counters::branches).absence, ENOENT);
	EXPECT_EQ(sender.of(&Counters::branch_misses).absence, EBUSY);
	EXPECT_EQ(receiver.of(&Counters::cycles).absence, EACCES);
	EXPECT_FALSE(analysis::instructions_per_cycle({&receiver}));
	EXPECT_FALSE(analysis::instructions_per_cycle({&sender, &receiver}));
	EXPECT_TRUE(sender.has_hardware());
	EXPECT_FALSE(receiver.has_hardware()) << "migrations are none";
	analysis::CounterTotals unasked;
	unasked.add(block_of(1), model::Cell().graph, 10);
	EXPECT_FALSE(unasked.asked);
}

class CountedRun : public testing::Test {
protected:
	rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");

	// Blocks of the oneway cell, with 102 messages each, whose latencies are `delay_ns` longer.
	static model::Block block(uint32_t round, bool probed, uint64_t delay_ns, const Counters &counters)
	{
		BlockPlan plan;
		plan.cell = 1;
		plan.round = round;
		plan.probed = probed;
		plan.delay_ns = [=](uint64_t, size_t) { return delay_ns; };
		model::Block made = make_block(socket_cell(model::Pattern::OneWay), plan);
		for (model::BlockSide &side : made.sides)
			side.counters = counters;
		return made;
	}
	analysis::RunResult of(const std::vector<model::Block> &blocks)
	{
		rundir::Writer writer(run, small_head());
		for (const model::Block &one : blocks)
			writer.add(one);
		writer.finish({});
		return analysis::analyse(run);
	}
	static json schema() { return json::parse(std::ifstream(test::in_source("docs/run-schema.json"))); }
};

TEST_F(CountedRun, LatenciesAndTimesOfCountedBlocksAreNone)
{
	const analysis::RunResult result =
		of({block(0, true, 0, {}), block(1, false, 0, refused(model::kNotAsked)),
			block(2, false, 50'000, counted(102'000, 51'000)), block(3, true, 0, refused(ENOENT))});
	const analysis::CellResult &cell = result.cells[1];
	EXPECT_EQ(cell.blocks.unprobed, 1u);
	EXPECT_EQ(cell.blocks.counted, 1u);
	EXPECT_EQ(cell.blocks.probed, 2u);
	EXPECT_EQ(cell.times.latency.count, 100u);
	EXPECT_EQ(cell.times.latency.max, kPlainNs);
	EXPECT_EQ(cell.used.totals->messages, 102u);
	EXPECT_EQ(cell.messages.sent, 400u) << "but none is lost from the counts";
	EXPECT_EQ(cell.counters.ends[0].of(&Counters::cycles).per_message(), 1000);
	EXPECT_EQ(cell.counters.ends[1].of(&Counters::migrations).messages, 204u) << "of probed blocks nothing";
}

TEST_F(CountedRun, ARefusalCostsNoBlock)
{
	const analysis::RunResult result = of({block(1, false, 0, refused(ENOENT)), block(2, false, 0, refused(ENOENT))});
	EXPECT_EQ(result.cells[1].blocks.unprobed, 2u);
	EXPECT_EQ(result.cells[1].blocks.counted, 0u);
	EXPECT_EQ(result.cells[1].times.latency.count, 200u);
}

TEST_F(CountedRun, RunJsonHasTheCountersOfEachSide)
{
	const json written = json::parse(exports::run_json_text(
		of({block(1, false, 0, refused(model::kNotAsked)), block(2, false, 0, counted(102'000, 51'000))})));
	for (const std::string &complaint : schema_complaints(schema(), written))
		ADD_FAILURE() << complaint;
	EXPECT_EQ(written["cells"][1]["blocks"]["counted"], 1);
	for (const char *side : {"sender", "receiver"}) {
		const json &told = written["cells"][1]["counters"][side];
		EXPECT_EQ(told["cycles"],
				  json({{"total", "102000"}, {"messages", 102}, {"per_message", 1000.0}, {"running_share", nullptr}}));
		EXPECT_EQ(told["migrations"]["total"], "1");
		EXPECT_EQ(told["cache_misses"]["total"], "120");
		EXPECT_EQ(told["cache_misses"]["running_share"], 0.5);
		EXPECT_EQ(told["instructions_per_cycle"], 0.5);
		EXPECT_EQ(told["hardware_mode"], "user_and_kernel");
		EXPECT_TRUE(told["branches"].is_null());
		ASSERT_EQ(told["absent"].size(), 2u);
		EXPECT_EQ(told["absent"][0]["counters"], json({"branches"}));
		EXPECT_EQ(told["absent"][0]["why"], model::why_absent(ENOENT, true));
	}
	EXPECT_TRUE(written["cells"][0]["counters"].is_null());
}

// Its worker reports nothing for the other side.
TEST_F(CountedRun, OneThreadHasAllInTheFirstSide)
{
	model::Block with = block(2, false, 0, counted(1'020'000, 510'000));
	with.sides[1].counters = {};
	with.sides[1].usage = {};
	analysis::RunResult result = of({block(1, false, 0, {}), with});
	EXPECT_EQ(text::terminal_report(result, {.verbose = true}).find(" 0.50 "), std::string::npos)
		<< "of two sides one would be missing";
	result.cells[1].cell.graph = model::star(1, {0, 0}, model::Between::OneThread, false);
	EXPECT_NE(text::terminal_report(result, {.verbose = true}).find("5.00k  0.50"), std::string::npos)
		<< text::terminal_report(result, {.verbose = true});
	const json written = json::parse(exports::run_json_text(result));
	for (const std::string &complaint : schema_complaints(schema(), written))
		ADD_FAILURE() << complaint;
	EXPECT_EQ(written["cells"][1]["between"], "one-thread");
	EXPECT_EQ(written["cells"][1]["counters"]["sender"]["cycles"]["per_message"], 10'000);
	const json &absent = written["cells"][1]["counters"]["receiver"]["absent"];
	ASSERT_EQ(absent.size(), 1u);
	EXPECT_EQ(absent[0]["counters"].size(), std::size(model::kCounterFields));
	EXPECT_NE(absent[0]["why"].get<std::string>().find("one thread has both ends"), std::string::npos);
}

TEST_F(CountedRun, WithoutHardwareRunJsonSaysWhyOnceAndTheReportNothing)
{
	const analysis::RunResult result = of({block(1, false, 0, refused(ENOENT))});
	const json told = json::parse(exports::run_json_text(result))["cells"][1]["counters"]["sender"];
	EXPECT_EQ(told["migrations"]["per_message"], 0);
	EXPECT_TRUE(told["instructions"].is_null());
	EXPECT_TRUE(told["hardware_mode"].is_null());
	ASSERT_EQ(told["absent"].size(), 1u);
	EXPECT_EQ(told["absent"][0]["counters"].size(), 6u);
	EXPECT_EQ(text::terminal_report(result, {.verbose = true}).find("counted by the CPU"), std::string::npos);
}

TEST_F(CountedRun, TheReportHasAShortTableOfIt)
{
	const std::string text = text::terminal_report(
		of({block(1, false, 0, refused(model::kNotAsked)), block(2, false, 0, counted(1'020'000, 510'000))}),
		{.unicode = true, .width = 100, .verbose = true});
	EXPECT_NE(text.find(R"(
counted by the CPU per message, both sides, user and kernel mode, in blocks of their own
                                instructions   IPC  cache misses
  uds-stream 64 B oneway block         10.0k  0.50          2.35
  scaled: the counters had to take turns, and some counted 50.0 % of the time

)"),
			  std::string::npos)
		<< text;
}

} // namespace
} // namespace icepath::report
