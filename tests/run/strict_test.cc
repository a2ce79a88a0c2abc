// SPDX-License-Identifier: Apache-2.0
// Each flaw that --strict rejects has a message of its own: lost records aren't incomplete messages.
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/report/notices.h"

namespace icepath::report {
namespace {

RunResult a_good_run()
{
	RunResult run;
	run.tail.emplace();
	CellResult cell;
	cell.blocks_probed = cell.blocks_unprobed = 2;
	cell.latency.count = 100;
	cell.probed = 100;
	run.cells.assign(2, cell);
	return run;
}

void expect_flaw(const RunResult &run, const std::string &sentence)
{
	EXPECT_EQ(flaws(run), std::vector{sentence});
	EXPECT_FALSE(valid(run));
}

TEST(Strict, AllowsAGoodRun)
{
	EXPECT_TRUE(flaws(a_good_run()).empty());
	EXPECT_TRUE(valid(a_good_run()));
}

TEST(Strict, AllowsMessagesWithoutABreakdown)
{
	RunResult run = a_good_run();
	run.cells[0].incomplete[static_cast<size_t>(path::Reason::LostRecord)] = 7;
	EXPECT_TRUE(valid(run));
}

TEST(Strict, NamesLostRecordsAsRecords)
{
	RunResult run = a_good_run();
	run.cells[0].capture.dropped = 5;
	run.cells[1].capture.dropped = 7;
	expect_flaw(run, "capture records lost, because a CPU's log was full: 12");
}

TEST(Strict, NamesLostMessagesAsMessagesWhereNoneMayBeLost)
{
	RunResult run = a_good_run();
	run.cells[0].messages.lost = 3;
	expect_flaw(run, "messages lost by transports that mustn't lose any: 3");
	run.cells[0].cell.traits = {model::Trait::Lossy};
	EXPECT_TRUE(valid(run));
}

TEST(Strict, NamesCellsWithRecordsAndNoMessages)
{
	RunResult run = a_good_run();
	run.cells[0].probed = 0;
	run.cells[0].capture.records = 4000;
	run.cells[1].latency.count = 0;
	expect_flaw(run, "cells without messages, either with or without probes: 2");
}

TEST(Strict, NamesFailedBlocksAndPartialRuns)
{
	RunResult run = a_good_run();
	run.cells[0].blocks_failed = 1;
	expect_flaw(run, "blocks that failed: 1");
	run.tail.reset();
	EXPECT_EQ(flaws(run).front(), "the run is partial");
}

} // namespace
} // namespace icepath::report
