// SPDX-License-Identifier: Apache-2.0
// Stored runs with arms, from their container to what `icepath compare` prints.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "profiler/failure.h"
#include "profiler/report/compared.h"
#include "profiler/rundir/container.h"
#include "tests/folders.h"
#include "tests/report/schema_check.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {
namespace {

using nlohmann::json;
using Form = CompareWishes::Form;

constexpr uint32_t kRounds = 48;
constexpr uint64_t kSlowerByNs = 3000; // waiting for a CPU

struct StoredArms {
	std::vector<std::string> names = {"base", "new", "base-again"};
	std::string measured_last = {}; // this one has no block after it; empty: all are measured
	bool has_arms = true;
	std::string unmeasured = {};
	uint64_t lost_of_100 = 0; // by an arm "lossy", which loses its slowest messages
	bool is_finished = true;
};

class ComparisonOfRun : public testing::Test {
protected:
	// Of one cell in each arm, and "new" slower. Every second pair of rounds has probes.
	std::string stored(const std::string &name, const StoredArms &arms)
	{
		const std::string path = temporary.path(name);
		model::Head head = small_head();
		head.cells.clear();
		for (const std::string &arm : arms.names) {
			model::Cell &cell = head.cells.emplace_back(socket_cell(model::Pattern::PingPong));
			cell.arm = arms.has_arms ? arm : "";
			cell.target = arms.has_arms ? "lib" : arm;
			if (!arms.has_arms || model::find_arm(head.arms, arm))
				continue;
			model::Arm &told = head.arms.emplace_back();
			told.name = arm;
			told.is_control = arm == "base-again";
		}
		rundir::Writer writer(path, head);
		for (uint32_t round = 0; round < kRounds; ++round)
			for (uint32_t cell = 0; cell < head.cells.size(); ++cell)
				if ((arms.measured_last.empty() || arms.names[cell] == arms.measured_last) &&
					arms.names[cell] != arms.unmeasured)
					writer.add(without_slowest(block(head.cells[cell], arms.names[cell] == "new", cell, round),
											   arms.names[cell] == "lossy" ? arms.lost_of_100 : 0));
		if (arms.is_finished)
			writer.finish({});
		return path;
	}

	json told(CompareWishes wishes)
	{
		wishes.form = Form::Json;
		const json answer = json::parse(comparison_of(wishes, {}).text);
		const std::vector<std::string> complaints = schema_complaints(schema, answer);
		EXPECT_TRUE(complaints.empty()) << complaints.front();
		return answer;
	}

	static std::string refusal(const CompareWishes &wishes)
	{
		try {
			comparison_of(wishes, {});
		} catch (const Failure &failure) {
			EXPECT_EQ(failure.code(), ExitCode::Usage);
			return failure.what();
		}
		return "";
	}

	rundir::TemporaryDirectory temporary;
	const json schema = json::parse(std::ifstream(test::in_source("docs/compare-schema.json")));

private:
	// Messages take the longer the later they are sent.
	static model::Block without_slowest(model::Block block, uint64_t count)
	{
		for (model::BlockFlow &flow : block.flows)
			flow.recvs.resize(flow.recvs.size() - std::min<size_t>(count, flow.recvs.size()));
		return block;
	}

	static model::Block block(const model::Cell &of, bool is_slower, uint32_t cell, uint32_t round)
	{
		BlockPlan plan{.cell = cell, .round = round, .probed = round % 4 == 1 || round % 4 == 2};
		plan.delay_ns = [=](uint64_t seq, size_t) {
			return 1 + 20 * round + 30 * seq + (is_slower ? kSlowerByNs : 0) + (round * 37 + cell * 5) % 11;
		};
		model::Block made = make_block(of, plan);
		made.opening = round / 4;
		return made;
	}
};

TEST_F(ComparisonOfRun, NamesWhereTheDifferenceIs)
{
	const std::string run = stored("run", {});
	const json cell = told({.run = run}).at("comparisons").at(0).at("cells").at(0);
	EXPECT_EQ(cell.at("figures").at(0).at("verdict"), "slower");
	EXPECT_EQ(cell.at("against").at("question"), "against");
	EXPECT_EQ(cell.at("against").at("difference").at("kinds").at(0).at("rows").at(0).at("layer"), "runqueue");
	EXPECT_NEAR(cell.at("against").at("difference").at("difference_ns").get<double>(), kSlowerByNs, 20);

	const std::string text = comparison_of({.run = run}, {.unicode = true, .width = 400}).text;
	EXPECT_NE(text.find("new against base"), std::string::npos) << text;
	EXPECT_NE(text.find("waiting for a CPU 3.0"), std::string::npos) << text;
	EXPECT_NE(text.find("next    icepath explain " + run +
						" --cell 'lib 64 B pingpong block new' --against 'lib 64 B pingpong block base'"),
			  std::string::npos)
		<< text;
	EXPECT_NE(text.find("base-again"), std::string::npos) << text;
	const std::string markdown = comparison_of({.run = run, .form = Form::Markdown}, {}).text;
	EXPECT_NE(markdown.find("| lib 64 B pingpong block | mean | "), std::string::npos) << markdown;
	EXPECT_NE(markdown.find("| **slower** |"), std::string::npos) << markdown;
}

// Those that come are faster on average, and only because the others never do.
TEST_F(ComparisonOfRun, AnArmThatLosesItsSlowestMessagesIsNotFaster)
{
	for (const uint64_t lost : {0u, 5u, 30u, 60u}) {
		SCOPED_TRACE(lost);
		const std::string run =
			stored(std::to_string(lost), {.names = {"base", "lossy", "base-again"}, .lost_of_100 = lost});
		const json figures = told({.run = run}).at("comparisons").at(0).at("cells").at(0).at("figures");
		const json &mean = figures.at(0), &p50 = figures.at(1);
		EXPECT_EQ(mean.at("verdict"), lost > 10 ? "not_comparable" : "same") << mean;
		EXPECT_EQ(p50.at("verdict"), lost > 50 ? "not_comparable" : "same") << p50;
		EXPECT_EQ(figures.at(5).at("verdict"), lost > 0 ? "slower" : "undecided") << figures.at(5);
		const std::string beside = "base lost none, lossy " + std::to_string(lost) + ".00 %";
		for (const json &time : {mean, p50})
			EXPECT_EQ(time.at("words").get<std::string>().find(beside) != std::string::npos, lost > 0) << time;
	}
}

TEST_F(ComparisonOfRun, IsRefusedIfTheRunIsNotWhole)
{
	const std::string run = stored("run", {.is_finished = false});
	EXPECT_TRUE(comparison_of({.run = run}, {}).refused);
	EXPECT_NE(comparison_of({.run = run}, {.unicode = true, .width = 400}).text.find("a run ended early"),
			  std::string::npos);
	EXPECT_NE(comparison_of({.run = run, .form = Form::Markdown}, {}).text.find("a run ended early"),
			  std::string::npos);
}

TEST_F(ComparisonOfRun, TwoCellsWithOneKeyAreRefused)
{
	EXPECT_NE(refusal({.run = stored("run", {.names = {"base", "new", "new"}})}).find("several cells with the key"),
			  std::string::npos);
	EXPECT_NE(refusal({.run = stored("a", {.names = {"x", "y"}, .has_arms = false}),
					   .other = stored("b", {.names = {"x", "y", "y"}, .has_arms = false})})
				  .find("several cells with the key"),
			  std::string::npos);
}

TEST_F(ComparisonOfRun, IsRefusedIfNothingOfAnArmWasMeasured)
{
	const std::string run = stored("run", {.measured_last = "base"});
	EXPECT_TRUE(comparison_of({.run = run}, {}).refused);
	EXPECT_EQ(told({.run = run}).at("comparisons").at(0).at("cells").at(0).at("figures").at(0).at("why"),
			  "no_blocks_in_b");
	EXPECT_FALSE(comparison_of({.run = stored("all", {})}, {}).refused);
}

TEST_F(ComparisonOfRun, IsRefusedIfOneArmOfSeveralWasNotMeasured)
{
	StoredArms arms{.names = {"base", "new", "other"}};
	EXPECT_FALSE(comparison_of({.run = stored("all", arms)}, {}).refused);
	arms.unmeasured = "other";
	EXPECT_TRUE(comparison_of({.run = stored("run", arms)}, {}).refused);
}

// A run beside itself would show no drift.
TEST_F(ComparisonOfRun, RepeatsMustBeOtherRuns)
{
	const StoredArms arms{.names = {"pipe", "lib"}, .has_arms = false};
	const std::string one = stored("one", arms), two = stored("two", arms);
	EXPECT_NE(refusal({.run = one, .other = two, .repeats = {one}}).find("is the same run as"), std::string::npos);
}

TEST_F(ComparisonOfRun, ArmsMustBeOfTheRun)
{
	const std::string run = stored("run", {});
	EXPECT_EQ(refusal({.run = run, .arms = {"base", "nwe"}}),
			  "--arms: " + run + " has no arm \"nwe\", but base, new, base-again");
	EXPECT_NE(refusal({.run = run, .arms = {"base", "base"}}).find("each once"), std::string::npos);
	EXPECT_NE(refusal({.run = run, .arms = {"base"}}).find("two arms or more"), std::string::npos);
	EXPECT_EQ(told({.run = run, .arms = {"new", "base"}})
				  .at("comparisons")
				  .at(0)
				  .at("cells")
				  .at(0)
				  .at("figures")
				  .at(0)
				  .at("verdict"),
			  "faster");
	EXPECT_NE(refusal({.run = stored("plain", {.names = {"lib", "other"}, .has_arms = false})}).find("has no arms"),
			  std::string::npos);
	EXPECT_NE(refusal({.run = run, .other = run}).find("has arms"), std::string::npos);
}

TEST_F(ComparisonOfRun, TwoRunsMustHaveACellInCommon)
{
	const std::string one = stored("one", {.names = {"lib", "uds"}, .has_arms = false}),
					  two = stored("two", {.names = {"lib", "uds"}, .has_arms = false}),
					  other = stored("other", {.names = {"x", "y"}, .has_arms = false});
	EXPECT_NE(refusal({.run = one, .other = other}).find("no cell in common"), std::string::npos);
	EXPECT_NE(refusal({.run = one, .other = two, .anchor = "zzz"}).find("--anchor: no cell of"), std::string::npos);
	const json comparison = told({.run = one, .other = two}).at("comparisons").at(0);
	EXPECT_EQ(comparison.at("of"), "runs");
	EXPECT_EQ(comparison.at("cells").at(0).at("figures").at(0).at("why"), "drift_not_known");
	const std::string text = comparison_of({.run = one, .other = two}, {.unicode = true, .width = 400}).text;
	EXPECT_NE(text.find("sudo icepath run --arm base:plugins=FOLDER --arm new:plugins=FOLDER -t lib,uds"),
			  std::string::npos)
		<< text;
	EXPECT_NE(comparison_of({.run = one, .other = two, .form = Form::Markdown}, {}).text.find("`sudo icepath run"),
			  std::string::npos);
}

} // namespace
} // namespace icepath::report
