// SPDX-License-Identifier: Apache-2.0
// The plan of a run with arms: the same cells of each, side by side.
#include "profiler/plan/plan_of_arms.h"

#include <gtest/gtest.h>

#include "profiler/model/cell_title.h"
#include "tests/plan/wishes_of_tests.h"

namespace icepath::plan {
namespace {

const std::vector<model::Arm> kArms = {{.name = "old"}, {.name = "new"}};

TEST(PlanOfArms, HasTheSameCellsOfEachSideBySide)
{
	Target of_new = target("a");
	of_new.plugin = "/new/icepath-a.so";
	of_new.library_version = "a 2";
	const std::vector<Plan> plans = {make(wish({"b", "a"}), {target("a"), target("b")}, {0, 1}),
									 make(wish({"b", "a"}), {of_new, target("b")}, {0, 1})};
	const Plan plan = beside_each_other(kArms, plans);
	EXPECT_EQ(texts_of(plan).size(), 4u);
	std::vector<std::string> titles;
	for (const model::Cell &cell : plan.cells)
		titles.push_back(model::title(cell));
	EXPECT_EQ(titles, (std::vector<std::string>{"b 64 B pingpong block old", "b 64 B pingpong block new",
												"a 64 B pingpong block old", "a 64 B pingpong block new"}));
	EXPECT_EQ(plan.plugin_of_cell[2], "/lib/icepath-a.so");
	EXPECT_EQ(plan.plugin_of_cell[3], "/new/icepath-a.so");
	EXPECT_EQ(plan.cells[3].library, "a 2");
	EXPECT_TRUE(plan.notices.empty()) << plan.notices[0];
}

TEST(PlanOfArms, LeavesOutWhatOneLacksAndSaysSo)
{
	Plan old = make(wish({"a", "b"}), {target("a"), target("b")}, {0, 1});
	Plan without = make(wish({"a"}), {target("a")}, {0, 1});
	old.notices = {"of both", "of old"};
	without.notices = {"of both"};
	const Plan plan = beside_each_other(kArms, {old, without});
	EXPECT_EQ(plan.cells.size(), 2u);
	EXPECT_EQ(plan.notices, (std::vector<std::string>{"of both", "arm old: of old",
													  "b 64 B pingpong block: arm old alone can have it: left out"}));
}

TEST(PlanOfArms, IsRefusedWithoutACommonCell)
{
	const std::vector<Plan> plans = {make(wish({"a"}), {target("a")}, {0, 1}),
									 make(wish({"b"}), {target("b")}, {0, 1})};
	try {
		beside_each_other(kArms, plans);
		FAIL();
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		EXPECT_NE(std::string(failure.what()).find("the arms have no cell in common: a 64 B"), std::string::npos)
			<< failure.what();
	}
}

} // namespace
} // namespace icepath::plan
