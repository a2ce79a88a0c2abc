// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/compared_arms.h"

#include <gtest/gtest.h>

#include "profiler/text/compare_lines.h"
#include "profiler/text/compare_words.h"
#include "tests/compare/made_runs.h"

namespace icepath::compare {
namespace {

const MadeCell kBase{.arm = "base"}, kAgain{.arm = "base-again"};

MadeCell slower_by(double share) { return {.arm = "new", .times = 1 + share}; }

const Judged &judged(const Comparison &comparison, Figure figure, size_t cell = 0)
{
	return comparison.cells.at(cell).figures.at(static_cast<size_t>(figure));
}

Comparison compared(const analysis::RunResult &run, double delta = kUsualDelta)
{
	return compare_arms(run, arms_of(run.head, false), delta).front();
}

TEST(ComparedArms, ASlowerOneIsSlowerInEachFigureOfTime)
{
	const Comparison comparison = compared(made_run({kBase, slower_by(0.1), kAgain}));
	EXPECT_EQ(comparison.a, "base");
	EXPECT_EQ(comparison.b, "new");
	EXPECT_EQ(comparison.control, "base-again");
	ASSERT_EQ(comparison.cells.size(), 1u);
	EXPECT_EQ(comparison.cells[0].key.arm, "");
	for (const Figure figure : {Figure::Mean, Figure::P50, Figure::P99, Figure::Cpu}) {
		const Judged &one = judged(comparison, figure);
		EXPECT_EQ(one.verdict, Verdict::Slower) << row_of(figure).name;
		EXPECT_NEAR(one.change.value(), 0.1, 0.01);
		EXPECT_LT(one.interval->low, 0.1);
		EXPECT_GT(one.interval->high, 0.1);
		EXPECT_NEAR(*one.b / *one.a, 1.1, 0.01);
		EXPECT_NEAR(one.control.value(), 0, 0.01);
		EXPECT_EQ(one.rounds, 120u);
		EXPECT_EQ(one.openings, 60u);
	}
	ASSERT_TRUE(comparison.cells[0].against) << "why is asked";
	EXPECT_EQ(comparison.cells[0].against->slower, 1u);
	EXPECT_EQ(judged(compared(made_run({kBase, slower_by(-0.1)})), Figure::Mean).verdict, Verdict::Faster);
}

TEST(ComparedArms, ADifferenceWithinTheMarginIsNone)
{
	const analysis::RunResult run = made_run({kBase, slower_by(0.01), kAgain});
	const Comparison comparison = compared(run);
	EXPECT_EQ(judged(comparison, Figure::Mean).verdict, Verdict::Same);
	EXPECT_LT(judged(comparison, Figure::Mean).p_margin.value(), 0.05);
	EXPECT_FALSE(judged(comparison, Figure::Mean).needed_s) << "it is decided";
	EXPECT_FALSE(comparison.cells[0].against);
	EXPECT_EQ(judged(compared(run, 0.005), Figure::Mean).verdict, Verdict::Slower) << "of a smaller margin it isn't";
}

TEST(ComparedArms, AShortRunSaysHowLongOneWouldTell)
{
	MadeCell base = kBase, other = slower_by(0);
	base.rounds = other.rounds = 16;
	const Comparison comparison = compared(made_run({base, other}, 3, 0.2));
	const Judged &mean = judged(comparison, Figure::Mean);
	EXPECT_EQ(mean.verdict, Verdict::Undecided);
	EXPECT_EQ(mean.why, Why::Wide);
	EXPECT_GT(mean.needed_s.value(), 60) << "longer than this one";
	EXPECT_EQ(text::verdict_words(comparison, mean).find("undecided: both equals"), 0u);
	EXPECT_NE(text::verdict_words(comparison, mean).find("; -d "), std::string::npos);
}

TEST(ComparedArms, ATailTakesMoreRoundsThanAMean)
{
	const Comparison comparison = compared(made_run({kBase, slower_by(0)}));
	EXPECT_EQ(judged(comparison, Figure::Mean).verdict, Verdict::Same);
	EXPECT_EQ(judged(comparison, Figure::P99).verdict, Verdict::Undecided) << "60 openings may have met no bad one";
	EXPECT_GT(judged(comparison, Figure::P99).needed_s.value(), 200);
}

TEST(ComparedArms, IfTheControlDiffersThereIsNoVerdict)
{
	MadeCell again = kAgain;
	again.times = 1.1;
	for (const double by : {0.0, 0.2}) {
		const Comparison comparison = compared(made_run({kBase, slower_by(by), again}));
		for (const Figure figure : {Figure::Mean, Figure::P50, Figure::P99, Figure::Cpu, Figure::Lost}) {
			EXPECT_EQ(judged(comparison, figure).verdict, Verdict::ControlDiffers) << row_of(figure).name;
			EXPECT_EQ(text::verdict_words(comparison, judged(comparison, figure)),
					  "no verdict: base-again differs from base, which is the same");
		}
		EXPECT_NEAR(judged(comparison, Figure::Mean).control.value(), 0.1, 0.01);
		EXPECT_FALSE(comparison.cells[0].against);
	}
}

// That the control is missing doesn't look as if it were the same.
TEST(ComparedArms, WithoutBlocksOfTheControlThereIsNoVerdict)
{
	MadeCell again = kAgain;
	again.rounds = 0;
	const Comparison comparison = compared(made_run({kBase, slower_by(0.1), again}));
	EXPECT_EQ(judged(comparison, Figure::Mean).verdict, Verdict::Undecided);
	EXPECT_EQ(judged(comparison, Figure::Mean).why, Why::NoBlocksOfControl);
	EXPECT_EQ(
		judged(compared(made_run({kBase, slower_by(0.1), {.target = "other", .arm = "base-again"}})), Figure::Mean).why,
		Why::NoBlocksOfControl)
		<< "the control has no such cell";
}

TEST(ComparedArms, TwoBlocksOfTheControlShowNothing)
{
	MadeCell again = kAgain;
	again.rounds = 2;
	const Judged mean = judged(compared(made_run({kBase, slower_by(0.1), again})), Figure::Mean);
	EXPECT_EQ(mean.verdict, Verdict::Undecided);
	EXPECT_EQ(mean.why, Why::NoBlocksOfControl);
}

// Within the margin the control may differ, but not by as much as the second arm.
TEST(ComparedArms, WhatTheControlDiffersByAsWellIsNoVerdict)
{
	const auto of = [](double by) {
		MadeCell again = kAgain;
		again.times = 1.08;
		analysis::RunResult run = made_run({kBase, slower_by(by), again}, 1, 0.02);
		for (analysis::CellResult &cell : run.cells) { // a tail is never so surely the same
			const auto mean_ns = cell.block_figures.mean_ns;
			cell.block_figures = {};
			cell.block_figures.mean_ns = mean_ns;
		}
		return judged(compared(run, 0.1), Figure::Mean).verdict;
	};
	EXPECT_EQ(of(0.095), Verdict::ControlDiffers);
	EXPECT_EQ(of(0.13), Verdict::Slower);
}

TEST(ComparedArms, FailedBlocksMayHideASlowerArm)
{
	const auto with_failed = [](double by, size_t cell) {
		analysis::RunResult run = made_run({kBase, slower_by(by), kAgain});
		run.cells[cell].blocks.failed = 1;
		return judged(compared(run), Figure::Mean);
	};
	for (const double by : {0.0, -0.1})
		EXPECT_EQ(with_failed(by, 1).why, Why::FailedBlocks) << by;
	EXPECT_EQ(with_failed(0.1, 1).verdict, Verdict::Slower) << "it is slower already";
	for (const double by : {0.0, 0.1})
		EXPECT_EQ(with_failed(by, 0).why, Why::FailedBlocks) << by;
	EXPECT_EQ(with_failed(-0.1, 0).verdict, Verdict::Faster);
}

TEST(ComparedArms, MissingDataIsNeverTheSame)
{
	const auto of = [](uint32_t rounds, uint32_t rounds_of_opening) {
		MadeCell base = kBase, other = slower_by(0);
		base.rounds = other.rounds = rounds;
		base.rounds_of_opening = other.rounds_of_opening = rounds_of_opening;
		return judged(compared(made_run({base, other})), Figure::Mean);
	};
	EXPECT_EQ(of(0, 1).verdict, Verdict::NotMeasured);
	EXPECT_EQ(of(0, 1).why, Why::NoBlocksInA);
	EXPECT_EQ(of(2, 1).why, Why::TooFewRounds);
	EXPECT_EQ(of(2, 1).verdict, Verdict::Undecided);
	EXPECT_EQ(of(100, 50).why, Why::TooFewOpenings);
	EXPECT_EQ(of(100, 50).verdict, Verdict::Undecided);
	EXPECT_NEAR(of(100, 50).needed_s.value(), 90, 1) << "three openings instead of two";
	EXPECT_EQ(of(100, 2).verdict, Verdict::Same);

	MadeCell elsewhere = slower_by(0);
	elsewhere.target = "other";
	const Comparison comparison = compared(made_run({kBase, elsewhere}));
	ASSERT_EQ(comparison.cells.size(), 2u);
	EXPECT_EQ(judged(comparison, Figure::Mean, 0).why, Why::OnlyInA);
	EXPECT_EQ(judged(comparison, Figure::Mean, 1).why, Why::OnlyInB);
	EXPECT_FALSE(comparison.has_compared());
}

TEST(ComparedArms, LossesThatAreToldAreNeverTheSame)
{
	MadeCell base = kBase, lossy = slower_by(0);
	base.rounds = lossy.rounds = 400; // enough to be called the same
	lossy.lost = 0.004;
	const Comparison comparison = compared(made_run({base, lossy}));
	EXPECT_EQ(judged(comparison, Figure::Lost).verdict, Verdict::Slower) << "0.1 points, though 3 are the margin";
	EXPECT_EQ(text::verdict_words(comparison, judged(comparison, Figure::Lost)), "loses more");
	EXPECT_NEAR(judged(comparison, Figure::Lost).change.value(), 0.001, 1e-9);
	const Comparison none = compared(made_run({kBase, slower_by(0)}));
	EXPECT_EQ(judged(none, Figure::Lost).verdict, Verdict::Undecided) << "in 60 openings a bad one may be missing";
	EXPECT_FALSE(text::has_row(judged(none, Figure::Lost)));
}

// Among many equal cells one is told from itself now and then: by itself it leans.
TEST(ComparedArms, AmongManyFiguresWhatIsToldByItselfLeans)
{
	std::vector<MadeCell> cells;
	for (int i = 0; i < 40; ++i) {
		cells.push_back({.target = "lib" + std::to_string(i), .arm = "base", .rounds = 24});
		cells.push_back({.target = "lib" + std::to_string(i), .arm = "new", .rounds = 24});
	}
	size_t lean = 0, told = 0;
	for (uint64_t seed = 1; seed <= 10; ++seed)
		for (const ComparedCell &cell : compared(made_run(cells, seed, 0.1), 0.001).cells)
			for (const Judged &one : cell.figures) {
				told += one.is_told();
				if (one.verdict != Verdict::LeansSlower && one.verdict != Verdict::LeansFaster)
					continue;
				++lean;
				EXPECT_EQ(one.why, Why::ManyCompared);
				EXPECT_LT(*one.p, 0.05);
				EXPECT_GE(*one.p_corrected, 0.05);
			}
	EXPECT_GT(lean, 0u);
	EXPECT_LE(told, 2u);
}

TEST(ComparedArms, CellsThatSetTheirOwnRateAreNotCompared)
{
	analysis::RunResult run = made_run({kBase, slower_by(0.1)});
	for (analysis::CellResult &cell : run.cells)
		cell.cell.pattern = model::Pattern::Throughput;
	EXPECT_EQ(judged(compared(run), Figure::Mean).verdict, Verdict::NotComparable);
	EXPECT_EQ(judged(compared(run), Figure::Mean).why, Why::OwnRate);
}

TEST(ComparedArms, OtherCpusKeepVerdictsAndAnotherLibraryDoesNot)
{
	analysis::RunResult run = made_run({kBase, slower_by(0.1)});
	run.cells[1].cell.library = "lib 2";
	EXPECT_EQ(judged(compared(run), Figure::Mean).verdict, Verdict::Slower);
	ASSERT_EQ(compared(run).cells[0].conditions.size(), 1u);
	EXPECT_EQ(compared(run).cells[0].conditions[0].id, ConditionId::Library);
	run.cells[1].cell.graph.sides[0].cpu = 7;
	EXPECT_EQ(judged(compared(run), Figure::Mean).verdict, Verdict::NotComparable);
	EXPECT_EQ(judged(compared(run), Figure::Mean).why, Why::Conditions);
}

TEST(ComparedArms, ModesAreComparedIfBothHaveAsMany)
{
	analysis::RunResult run = made_run({kBase, slower_by(0)});
	EXPECT_EQ(judged(compared(run), Figure::Slow).why, Why::OneMode);
	EXPECT_FALSE(text::has_row(judged(compared(run), Figure::Slow)));
	run.cells[0].modes.all.resize(2);
	EXPECT_EQ(judged(compared(run), Figure::Slow).why, Why::OtherModes);
	run.cells[1].modes.all.resize(2);
	for (size_t cell = 0; cell < 2; ++cell)
		for (uint32_t round = 0; round < 120; ++round)
			run.cells[cell].block_figures.slow.push_back(
				{round, false, (cell == 0 ? 0.3 : 0.4) + 0.001 * static_cast<double>((round * 7 + cell) % 5),
				 round / 2});
	const Judged slow = judged(compared(run), Figure::Slow);
	EXPECT_EQ(slow.verdict, Verdict::Slower);
	EXPECT_NEAR(slow.change.value(), 0.1, 0.001) << "points, not a ratio";
	EXPECT_EQ(text::change_words(Figure::Slow, slow.change, stats::Interval{0.09, 0.11}), "+10.0 points [+9.0, +11.0]");
}

TEST(ComparedArms, EachArmIsComparedWithTheFirst)
{
	const analysis::RunResult run = made_run({kBase, slower_by(0.1), {.arm = "newest", .times = 0.8}, kAgain});
	const std::vector<Comparison> all = compare_arms(run, arms_of(run.head, false));
	ASSERT_EQ(all.size(), 2u);
	EXPECT_EQ(all[0].b, "new");
	EXPECT_EQ(all[1].b, "newest");
	EXPECT_EQ(judged(all[1], Figure::Mean).verdict, Verdict::Faster);
	const std::vector<Comparison> others = compare_arms(run, {"new", "newest"});
	ASSERT_EQ(others.size(), 1u);
	EXPECT_EQ(others[0].control, "") << "new was measured once";
}

} // namespace
} // namespace icepath::compare
