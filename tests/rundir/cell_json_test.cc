// SPDX-License-Identifier: Apache-2.0
// Refuses impossible levels in a run's head.
#include "profiler/rundir/cell_json.h"

#include <gtest/gtest.h>

namespace icepath::rundir {
namespace {

TEST(CellJson, KeepsItsLevels)
{
	model::Cell cell;
	cell.pattern = model::Pattern::ReqRep;
	cell.levels.responses = 7;
	cell.levels.idle_channels = 3;
	EXPECT_EQ(cell_from_json(to_json(cell)).levels, cell.levels);
}

TEST(CellJson, RefusesLevelsThatItsPatternCannotHave)
{
	for (const model::Factor &factor : model::kFactors) {
		model::Cell cell; // a ping-pong
		cell.levels.*factor.level = factor.most == model::neutral(factor) ? factor.least : factor.most;
		if (model::varies(factor, cell.pattern))
			EXPECT_EQ(cell_from_json(to_json(cell)).levels, cell.levels) << factor.key;
		else
			EXPECT_ANY_THROW((void)cell_from_json(to_json(cell))) << factor.key;
		cell.levels.*factor.level = factor.most + 1;
		EXPECT_ANY_THROW((void)cell_from_json(to_json(cell))) << factor.key;
	}
}

TEST(CellJson, KnowsWhetherCpusWereKeptAwake)
{
	model::Cell cell;
	cell.idle_states = model::IdleStates::Held;
	auto json = to_json(cell);
	EXPECT_EQ(cell_from_json(json).idle_states, model::IdleStates::Held);
	json["idle_states"] = "asleep";
	EXPECT_ANY_THROW((void)cell_from_json(json));
	json.erase("idle_states");
	EXPECT_EQ(cell_from_json(json).idle_states, model::IdleStates::Own) << "runs that don't tell had no other";
}

TEST(CellJson, KnowsWhatTheTargetIs)
{
	model::Cell cell;
	cell.summary = "UDP over loopback";
	auto json = to_json(cell);
	EXPECT_EQ(cell_from_json(json).summary, "UDP over loopback");
	json.erase("summary");
	EXPECT_EQ(cell_from_json(json).summary, "") << "older runs don't tell";
}

// A run from before there was a factor doesn't have its key.
TEST(CellJson, HasTheNeutralLevelOfAFactorThatIsMissing)
{
	model::Cell cell;
	cell.levels.idle_channels = 3;
	auto json = to_json(cell);
	json["levels"].erase("fifo_priority");
	EXPECT_EQ(cell_from_json(json).levels, cell.levels);
	json["levels"]["fifo_priority"] = "1";
	EXPECT_ANY_THROW((void)cell_from_json(json)) << "a text";
}

} // namespace
} // namespace icepath::rundir
