// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/against.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "profiler/analysis/analyse.h"
#include "profiler/analysis/layer_style.h"
#include "profiler/report/report.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/against_lines.h"
#include "profiler/text/finding_words.h"
#include "tests/report/two_cells.h"
#include "tests/rundir/example_run.h"

namespace icepath::explain {
namespace {

constexpr uint64_t kSlowerBy = 3000;

struct Pair {
	uint64_t slow_by = kSlowerBy; // in runqueue; of the first cell
	uint32_t rounds_of_opening = 2;
	bool probed = true; // every second round
	model::Wait wait = model::Wait::Block; // of the first cell
};

// "relayed/slow" and "slow", whose blocks get slower alike. Blocks of the first differ by some nanoseconds.
analysis::RunResult run_of(const rundir::TemporaryDirectory &temporary, const Pair &pair)
{
	const std::string path = temporary.path("run");
	write_two_cells(path, {.first = "relayed/slow",
						   .second = "slow",
						   .delay_ns =
							   [&](uint32_t cell, uint32_t round, uint64_t seq) {
								   const uint64_t alike = 1 + 20 * round + 30 * seq;
								   return alike + (cell == 0 ? pair.slow_by + round * 37 % 11 : round * 53 % 11);
							   },
						   .probed = pair.probed,
						   .rounds_of_opening = pair.rounds_of_opening,
						   .wait = pair.wait});
	return analysis::analyse(path);
}

std::string told(const analysis::RunResult &result, const Against &against)
{
	return against.refusal ? text::words(result, *against.refusal) : "";
}

class AgainstTest : public testing::Test {
protected:
	rundir::TemporaryDirectory temporary;

	std::string printed(const analysis::RunResult &result, const Against &against)
	{
		text::Page page({false, true}, 200);
		text::add_against(page, result, against);
		return page.take();
	}
};

TEST_F(AgainstTest, SaysHowLongARunMustBeWhereTheRatioCouldBeAnything)
{
	analysis::RunResult result = run_of(temporary, {});
	ASSERT_FALSE(explain_against(result, 0, 1).refusal);
	result.ranking.clear();
	result.measured_ns = 20'000'000'000;
	result.head.budget_s = 20;
	result.cells[0].compared = {{0, false, 1e3, 0}, {1, false, 1e6, 1}, {2, false, 1e9, 2}};
	result.cells[1].compared = {{0, false, 1e3, 0}, {1, false, 1e3, 1}, {2, false, 1e3, 2}};
	const Against against = explain_against(result, 0, 1);
	ASSERT_TRUE(against.refusal);
	EXPECT_EQ(against.refusal->id, FindingId::RatioWithoutBounds);
	EXPECT_TRUE(told(result, against)
					.starts_with("3 rounds differ so much that by them the ratio could be anything: "
								 "measure longer (icepath run -d "))
		<< told(result, against);
	EXPECT_GT(against.refusal->needed_s.value(), 20);
	result.measured_ns = UINT64_MAX;
	EXPECT_NE(explain_against(result, 0, 1).refusal->id, FindingId::RatioWithoutBounds) << "the length isn't known";
}

TEST_F(AgainstTest, NamesWhatTheSlowerOneHasMoreOf)
{
	const analysis::RunResult result = run_of(temporary, {});
	const Against against = explain_against(result, 0, 1);
	ASSERT_FALSE(against.refusal);
	ASSERT_TRUE(against.difference && against.ratio);
	EXPECT_TRUE(against.as_asked);
	EXPECT_TRUE(against.unlike.empty());
	EXPECT_NEAR(static_cast<double>(against.difference->of.ns()), kSlowerBy, 6);
	EXPECT_EQ(against.difference->kinds[0].kind, analysis::LayerKind::WaitingForCpu);
	EXPECT_EQ(against.difference->kinds[0].rows[0].layer, model::Layer::Runqueue);
	EXPECT_NEAR(static_cast<double>(against.difference->kinds[0].of.ns()), kSlowerBy, 6);
	// All blocks get slower from the first to the last, but both cells alike.
	ASSERT_TRUE(against.difference->of.interval);
	EXPECT_GT(against.difference->of.interval->low, kSlowerBy - 50);
	EXPECT_LT(against.difference->of.interval->high, kSlowerBy + 50);
	ASSERT_FALSE(against.causes.empty());
	EXPECT_NE(printed(result, against).find("\n  " + against.causes[0].name + " "), std::string::npos)
		<< printed(result, against);
	const std::string text = printed(result, against);
	EXPECT_NE(text.find("why relayed/slow 64 B pingpong block is slower than slow 64 B pingpong block"),
			  std::string::npos)
		<< text;
	EXPECT_NE(text.find("waiting for a CPU 3.0"), std::string::npos) << text;
	EXPECT_NE(text.find("= recv - send"), std::string::npos) << text;
}

// What is explained are messages with probes: a reader is told first how far they are like those without.
TEST_F(AgainstTest, ThatProbesChangeTheModesStandsBeforeTheExplanation)
{
	analysis::RunResult result = run_of(temporary, {});
	EXPECT_EQ(printed(result, explain_against(result, 0, 1)).find("probes change"), std::string::npos);
	analysis::CellMode mode;
	mode.range.layers = result.cells[0].ranges.typical->layers;
	mode.share = {800, 1000, {}};
	mode.share_probed = {600, 1000, {}};
	mode.share_added = {-0.2, 10, stats::Interval{-0.3, -0.1}};
	result.cells[0].modes.all = {mode};
	const std::string text = printed(result, explain_against(result, 0, 1));
	const size_t probes =
		text.find("of relayed/slow 64 B pingpong block: probes change the share of mode 1 from 80.0 to 60.0 %");
	ASSERT_NE(probes, std::string::npos) << text;
	EXPECT_LT(probes, text.find("because")) << text;
}

TEST_F(AgainstTest, WhatProbesAddToOneAloneIsTheirPartOfTheDifference)
{
	analysis::RunResult result = run_of(temporary, {});
	result.cells[0].observer_effect.p50 = {1500, 12, stats::Interval{1470, 1530}};
	result.cells[1].observer_effect.p50 = {500, 10, stats::Interval{460, 540}};
	EXPECT_NE(
		printed(result, explain_against(result, 0, 1))
			.find("they add +1.50 ±0.03 and +0.500 ±0.040 µs to the two p50s, so 1.00 ±0.05 µs of the difference"),
		std::string::npos)
		<< printed(result, explain_against(result, 0, 1));
	std::swap(result.cells[0].observer_effect, result.cells[1].observer_effect);
	EXPECT_NE(printed(result, explain_against(result, 0, 1)).find("so they hide 1.00 ±0.05 µs of it"),
			  std::string::npos);
	result.cells[0].observer_effect.p50 = {1500, 12, stats::Interval{-470, 3470}};
	EXPECT_NE(printed(result, explain_against(result, 0, 1)).find("which doesn't tell whether"), std::string::npos);
	result.cells[0].observer_effect.p50 = {};
	EXPECT_EQ(printed(result, explain_against(result, 0, 1)).find("to the two p50s"), std::string::npos);
}

// A library's system calls are traced, a transport's aren't: that isn't the library's time.
TEST_F(AgainstTest, WhatProbesMayHaveMadeIsNotGivenAsTheCause)
{
	analysis::RunResult result = run_of(temporary, {});
	result.cells[1].observer_effect.p50 = {500, 10, stats::Interval{500, 500}};
	const auto because = [&](double added_ns, double half_ns) {
		result.cells[0].observer_effect.p50 = {added_ns + 500, 12,
											   stats::Interval{added_ns + 500 - half_ns, added_ns + 500 + half_ns}};
		const std::string text = printed(result, explain_against(result, 0, 1));
		const size_t begin = text.find("because   ") + 10;
		return text.substr(begin, text.find("\nprobes ") - begin);
	};
	const std::string longer = "a typical message with probes takes 3.00 µs longer", waiting = "waiting for a CPU 3.0";
	EXPECT_TRUE(because(0, 10).starts_with(longer + ". Of that, " + waiting)) << because(0, 10);
	EXPECT_TRUE(because(-2000, 10).starts_with(longer + ". Of that, " + waiting)) << "they hide some";
	EXPECT_TRUE(because(0, 2900).starts_with(longer + ". Of that, " + waiting)) << "it is more than they may add";
	EXPECT_TRUE(because(0, 3100).starts_with(longer + ". Probes may have made: " + waiting)) << because(0, 3100);
	const std::string of_that = longer + ". Of that, 2.50 ±",
					  unknown = " µs are the probes', in which layers isn't known";
	EXPECT_TRUE(because(2500, 600).starts_with(of_that + "0.60" + unknown + ". They may have made: " + waiting))
		<< because(2500, 600);
	EXPECT_TRUE(because(2500, 100).starts_with(of_that + "0.10" + unknown + ". More than they add is in: " + waiting))
		<< because(2500, 100);
	EXPECT_TRUE(because(3500, 100).starts_with(longer + ". The probes make more than that, 3.50 ±0.10 µs"))
		<< because(3500, 100);
	EXPECT_EQ(because(3500, 100).find("waiting"), std::string::npos) << because(3500, 100);
	EXPECT_EQ(because(3500, 1000).find("more than that"), std::string::npos) << "it may be less: 2.50 of 3.00";
	result.cells[1].observer_effect.p50->interval = {};
	EXPECT_TRUE(because(0, 10).starts_with(longer + ". Probes may have made: " + waiting)) << "nobody knows how much";
}

TEST_F(AgainstTest, AskedTheOtherWayRoundSaysSo)
{
	const analysis::RunResult result = run_of(temporary, {});
	const Against against = explain_against(result, 1, 0);
	EXPECT_FALSE(against.as_asked);
	EXPECT_EQ(against.slower, 0u);
	EXPECT_GT(against.ratio->ratio, 1);
	EXPECT_GT(against.difference->of.ns(), 0);
	EXPECT_NE(printed(result, against).find("the other way round than asked"), std::string::npos);
}

TEST_F(AgainstTest, OfEqualsIsRefused)
{
	const analysis::RunResult result = run_of(temporary, {.slow_by = 0});
	const Against against = explain_against(result, 0, 1);
	EXPECT_FALSE(against.difference);
	EXPECT_NE(told(result, against).find("don't tell the two apart"), std::string::npos) << told(result, against);
	EXPECT_NE(printed(result, against).find("refused"), std::string::npos);
	EXPECT_NE(told(result, explain_against(result, 1, 1)).find("name the same cell"), std::string::npos);
}

TEST_F(AgainstTest, IsRefusedWithoutEnoughOpenings)
{
	const analysis::RunResult result = run_of(temporary, {.rounds_of_opening = 12});
	const Against against = explain_against(result, 0, 1);
	EXPECT_FALSE(against.difference);
	EXPECT_NE(told(result, against).find("fewer than 3 openings"), std::string::npos) << told(result, against);
}

TEST_F(AgainstTest, IsRefusedWithoutPaths)
{
	const analysis::RunResult result = run_of(temporary, {.probed = false});
	const Against against = explain_against(result, 0, 1);
	EXPECT_FALSE(against.difference);
	EXPECT_NE(told(result, against).find("not measured with probes"), std::string::npos) << told(result, against);
}

// Few messages that take much of the time don't keep the typical ones from being explained, if they are told first.
TEST_F(AgainstTest, SaysWhichMessagesItIsNotOf)
{
	analysis::RunResult result = run_of(temporary, {});
	analysis::CellResult &cell = result.cells[0];
	EXPECT_EQ(printed(result, explain_against(result, 0, 1)).find("known path"), std::string::npos) << "all have one";
	const double known_ns = static_cast<double>(cell.paths.layers.total_ns());
	const uint64_t known = cell.paths.complete();
	cell.paths.deliveries = known + 3;
	cell.paths.deliveries_ns = known_ns * 4 / 3;
	cell.times.latency_probed.mean = cell.paths.deliveries_ns / static_cast<double>(cell.paths.deliveries);
	ASSERT_FALSE(cell.paths.tells_where()) << "a quarter of the time is unknown";
	const Against against = explain_against(result, 0, 1);
	ASSERT_TRUE(against.difference) << told(result, against);
	const std::string text = printed(result, against);
	const size_t unknown =
		text.find(fmt::format("of relayed/slow 64 B pingpong block: 3 of {} messages with probes have no "
							  "known path. They take {} each, 25.0 % of the time.",
							  stats::count(known + 3), stats::duration(known_ns / 9)));
	ASSERT_NE(unknown, std::string::npos) << text;
	EXPECT_LT(unknown, text.find("it takes")) << "before all else";
	EXPECT_NE(text.find(fmt::format(
				  "and all messages {} µs longer",
				  stats::microseconds(cell.times.latency_probed.mean - result.cells[1].times.latency_probed.mean))),
			  std::string::npos)
		<< text;
	cell.times.latency_probed.mean =
		result.cells[1].times.latency_probed.mean - 2000; // the faster one has the slow messages
	const std::string shorter = printed(result, against);
	EXPECT_NE(shorter.find("and all messages 2.00 µs shorter"), std::string::npos) << shorter;
}

// By number.
TEST_F(AgainstTest, IsRefusedIfFewTypicalMessagesHaveAKnownPath)
{
	analysis::RunResult result = run_of(temporary, {});
	analysis::LatencyRange &typical = *result.cells[0].ranges.typical;
	const uint64_t known = typical.layers.deliveries();
	typical.messages = 2 * known;
	const Against half = explain_against(result, 0, 1);
	EXPECT_FALSE(half.refusal);
	const std::string text = printed(result, half);
	EXPECT_NE(text.find(fmt::format("with probes: {} of {} and ", stats::count(known), stats::count(2 * known))),
			  std::string::npos)
		<< text;
	typical.messages = 2 * known + 1;
	const std::string refusal = told(result, explain_against(result, 0, 1));
	EXPECT_NE(refusal.find(fmt::format("only {} of {} typical messages of relayed/slow", stats::count(known),
									   stats::count(2 * known + 1))),
			  std::string::npos)
		<< refusal;
	EXPECT_NE(refusal.find("icepath report -v RUN"), std::string::npos) << "what to do next";
}

TEST_F(AgainstTest, NamesThePairsThatMayBeMeantAsWell)
{
	const analysis::RunResult result = run_of(temporary, {});
	const Against only = explain_named(result, {"relayed/slow", "slow"});
	EXPECT_EQ(only.slower, 0u);
	EXPECT_EQ(only.faster, 1u);
	EXPECT_TRUE(only.others.empty());
	EXPECT_EQ(printed(result, only).find("others"), std::string::npos);
	Against several = only;
	const std::string options = "--cell 'relayed/slow 64 B pingpong epoll' --against 'slow 64 B'";
	const std::string command = "icepath explain RUN " + options;
	several.others = {options, options};
	several.others_without = 3;
	text::Page page({false, true}, 60);
	text::add_against(page, result, several);
	const std::string text = page.take();
	EXPECT_NE(text.find("\nothers    " + command + "\n          " + command + "\n          3 without"),
			  std::string::npos)
		<< "a command that is broken can't be pasted\n"
		<< text;
}

TEST_F(AgainstTest, ThatIsRefusedIsNotAnswered)
{
	const auto asked = [&](const analysis::RunResult &, const std::string &against) {
		return report::explanation_of(temporary.path("run"), {.cell = "relayed/slow", .against = against}, {});
	};
	EXPECT_FALSE(asked(run_of(temporary, {}), "slow").refused);
	std::filesystem::remove_all(temporary.path("run"));
	EXPECT_TRUE(asked(run_of(temporary, {.slow_by = 0}), "slow").refused);
}

TEST_F(AgainstTest, SaysThatWaitsDiffer)
{
	const analysis::RunResult result = run_of(temporary, {.wait = model::Wait::Epoll});
	const Against against = explain_against(result, 0, 1);
	ASSERT_TRUE(against.difference) << told(result, against);
	EXPECT_EQ(against.unlike, std::vector<std::string>{"wait: epoll and block"});
	EXPECT_NE(printed(result, against).find("wait: epoll and block"), std::string::npos);
}

} // namespace
} // namespace icepath::explain
