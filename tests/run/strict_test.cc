// SPDX-License-Identifier: Apache-2.0
// Each flaw that --strict rejects has a message of its own: lost records aren't incomplete messages.
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/explain/notices.h"
#include "profiler/text/finding_words.h"

namespace icepath::run {
namespace {

analysis::RunResult a_good_run()
{
	analysis::RunResult run;
	run.tail.emplace();
	analysis::CellResult cell;
	cell.blocks.probed = cell.blocks.unprobed = 2;
	cell.times.latency.count = 100;
	cell.paths.deliveries = 100;
	run.cells.assign(2, cell);
	return run;
}

void expect_flaw(const analysis::RunResult &run, const std::string &sentence)
{
	EXPECT_EQ(text::sentences(run, explain::flaws(run)), std::vector{sentence});
	EXPECT_FALSE(explain::valid(run));
}

TEST(Strict, AllowsAGoodRun)
{
	EXPECT_TRUE(explain::flaws(a_good_run()).empty());
	EXPECT_TRUE(explain::valid(a_good_run()));
}

TEST(Strict, AllowsMessagesWithoutABreakdown)
{
	analysis::RunResult run = a_good_run();
	run.cells[0].paths.incomplete[static_cast<size_t>(path::Reason::LostRecord)] = 7;
	EXPECT_TRUE(explain::valid(run));
}

TEST(Strict, NamesLostRecordsAsRecords)
{
	analysis::RunResult run = a_good_run();
	run.cells[0].capture.dropped = 5;
	run.cells[1].capture.dropped = 7;
	expect_flaw(run, "capture records lost, because a CPU's log was full: 12");
}

TEST(Strict, NamesLostMessagesAsMessagesWhereNoneMayBeLost)
{
	analysis::RunResult run = a_good_run();
	run.cells[0].messages.lost = 3;
	expect_flaw(run, "messages lost by transports that mustn't lose any: 3");
	run.cells[0].cell.traits = {model::Trait::Lossy};
	EXPECT_TRUE(explain::valid(run));
}

TEST(Strict, NamesCellsWithRecordsAndNoMessages)
{
	analysis::RunResult run = a_good_run();
	run.cells[0].paths.deliveries = 0;
	run.cells[0].capture.records = 4000;
	run.cells[1].times.latency.count = 0;
	expect_flaw(run, "cells without messages, either with or without probes: 2");
}

TEST(Strict, NamesFailedBlocksAndPartialRuns)
{
	analysis::RunResult run = a_good_run();
	run.cells[0].blocks.failed = 1;
	expect_flaw(run, "blocks that failed: 1");
	run.tail.reset();
	EXPECT_EQ(explain::flaws(run).front().id, explain::FindingId::PartialRun);
}

} // namespace
} // namespace icepath::run
