// SPDX-License-Identifier: Apache-2.0
// A report shows whether CPUs were kept awake, so that cells measured differently aren't compared.
#include <gtest/gtest.h>

#include <sstream>

#include "profiler/analysis/analyse.h"
#include "profiler/exports/run_json.h"
#include "profiler/rundir/container.h"
#include "profiler/text/terminal.h"
#include "tests/folders.h"
#include "tests/report/schema_check.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

#include <fstream>

namespace icepath::report {
namespace {

using nlohmann::json;

model::Isolation with_steps()
{
	using model::IsolationState;
	model::Isolation isolation;
	isolation.level = model::IsolationLevel::Soft;
	isolation.why = "CPUs 0 and 1";
	isolation.items.emplace();
	isolation.steps = {{"pinning", IsolationState::Done, "each side has its CPU", ""},
					   {"idle_states", IsolationState::AlreadySo, "CPUs poll", ""},
					   {"memory", IsolationState::NotPossible, "RLIMIT_MEMLOCK stays at 8192 KiB", "raise it"}};
	return isolation;
}

class IdleStatesTest : public testing::Test {
protected:
	rundir::TemporaryDirectory temporary;

	// A pingpong and a oneway cell.
	analysis::RunResult of(model::IdleStates pingpong, model::IdleStates oneway)
	{
		const std::string run = temporary.path("run");
		std::filesystem::remove_all(run);
		write_small_run(run);
		analysis::RunResult result = analysis::analyse(run);
		result.cells.at(0).cell.idle_states = pingpong;
		result.cells.at(1).cell.idle_states = oneway;
		result.head.wakes = {{0, 20'000, 30'000}, {1, 25'000, 31'000}};
		result.tail->wakes = {{0, 26'000, 30'000}, {1, 22'000, 31'000}};
		return result;
	}
	static std::string text(const analysis::RunResult &result, bool verbose = false)
	{
		return text::terminal_report(result, {.unicode = true, .width = 2000, .verbose = verbose});
	}
	// The table's line with both words.
	static std::string line_with(const std::string &text, const std::string &word, const std::string &other)
	{
		std::istringstream lines(text);
		for (std::string line; std::getline(lines, line);)
			if (line.find(word) != std::string::npos && line.find(other) != std::string::npos)
				return line;
		return "";
	}
};

constexpr auto kOwn = model::IdleStates::Own, kHeld = model::IdleStates::Held;

TEST_F(IdleStatesTest, StandBesideEachCellWhereTheyDiffer)
{
	const std::string mixed = text(of(kHeld, kOwn));
	EXPECT_NE(line_with(mixed, "uds-stream", "pingpong").find("CPUs kept awake"), std::string::npos) << mixed;
	EXPECT_NE(line_with(mixed, "uds-stream", "oneway").find("the machine's own idle states"), std::string::npos)
		<< mixed;
	EXPECT_NE(mixed.find("don't compare"), std::string::npos) << mixed;
}

TEST_F(IdleStatesTest, AreToldOnceWhereTheyAreTheSame)
{
	const std::string held = text(of(kHeld, kHeld));
	EXPECT_NE(held.find("\nblock, 64 B, CPUs kept awake\n"), std::string::npos) << held;
	EXPECT_EQ(held.find("don't compare"), std::string::npos) << held;
	const std::string own = text(of(kOwn, kOwn));
	EXPECT_NE(own.find("\nblock, 64 B\n"), std::string::npos) << own;
}

TEST_F(IdleStatesTest, AreThoseInWhichTheMachineWasMeasured)
{
	analysis::RunResult result = of(kHeld, kOwn);
	EXPECT_NE(text(result, true)
				  .find("a sleeping thread ran again after 25.0 µs before the first block and 26.0 µs after the "
						"last, on the slower CPU\n"),
			  std::string::npos);
	EXPECT_TRUE(exports::run_json(result)["machine_state"]["wake_ns"][1]["held"].is_null());
	result.head.wakes_held = {{0, 1'200, 1'900}, {1, 1'500, 2'000}};
	EXPECT_NE(text(result, true)
				  .find("on the slower CPU, by the machine's own idle states; after 1.50 µs with CPUs kept awake"),
			  std::string::npos)
		<< text(result, true);
	EXPECT_EQ(exports::run_json(result)["machine_state"]["wake_ns"][1]["held"]["p50"], 1500);
}

TEST_F(IdleStatesTest, AreInRunJson)
{
	analysis::RunResult result = of(kHeld, kOwn);
	result.head.isolation = with_steps();
	result.head.wakes_held = {{0, 1'200, 1'900}, {1, 1'500, 2'000}};
	const json told = json::parse(exports::run_json_text(result));
	EXPECT_EQ(told["cells"][0]["idle_states"], "held");
	EXPECT_EQ(told["cells"][1]["idle_states"], "own");
	EXPECT_EQ(told["isolation"]["steps"][2]["state"], "not_possible");
	const json schema = json::parse(std::ifstream(test::in_source("docs/run-schema.json")));
	EXPECT_EQ(schema_complaints(schema, told), std::vector<std::string>());
	json broken = told;
	broken["isolation"]["steps"][1]["state"] = "perhaps";
	broken["cells"][0]["idle_states"] = "asleep";
	EXPECT_EQ(schema_complaints(schema, broken).size(), 2u) << "the check of the check";
}

TEST_F(IdleStatesTest, StepsOfIsolatingAreInTheHead)
{
	analysis::RunResult result = of(kHeld, kHeld);
	EXPECT_EQ(text(result, true).find("\nisolation"), std::string::npos) << "an older run doesn't tell";
	result.head.isolation = with_steps();
	EXPECT_NE(text(result, true)
				  .find("\nCPUs 0 and 1\nisolation soft: pinning done (each side has its CPU) · idle_states already "
						"so (CPUs poll) · memory not possible (RLIMIT_MEMLOCK stays at 8192 KiB)\n"),
			  std::string::npos)
		<< text(result, true);
	EXPECT_NE(text(result).find("\nCPUs 0 and 1 · isolation soft · memory not possible\n"), std::string::npos)
		<< text(result);
}

} // namespace
} // namespace icepath::report
