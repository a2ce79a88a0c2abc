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

TEST(ComparedArms, AControlThatLacksBlocksShowsNothing)
{
	MadeCell again = kAgain;
	again.rounds = 30; // of 120
	const Comparison comparison = compared(made_run({kBase, slower_by(0.1), again}));
	EXPECT_EQ(judged(comparison, Figure::Mean).why, Why::NoBlocksOfControl);
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
	base.rounds = lossy.rounds = 16000; // enough to be called the same
	lossy.lost = 0.0004;
	const Comparison comparison = compared(made_run({base, lossy}));
	EXPECT_LT(judged(comparison, Figure::Lost).p_margin.value(), stats::kSame);
	EXPECT_EQ(judged(comparison, Figure::Lost).verdict, Verdict::Slower) << "0.01 points, though 0.1 are the margin";
	EXPECT_EQ(text::verdict_words(comparison, judged(comparison, Figure::Lost)), "loses more");
	EXPECT_NEAR(judged(comparison, Figure::Lost).change.value(), 0.0001, 1e-9);
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

// A mode that only one has may be found by chance; where it is slower as well, the new mode is one of the reasons.
TEST(ComparedArms, ASlowerOneWithANewModeHasMoreInSlowModes)
{
	const auto of = [](double slower_share) {
		analysis::RunResult run = made_run({kBase, slower_by(slower_share), kAgain});
		run.cells[1].modes.all.resize(2);
		for (analysis::CellResult &cell : run.cells)
			for (uint32_t round = 0; round < 120; ++round)
				cell.block_figures.slow.push_back(
					{round, false, cell.modes.all.empty() ? 0 : 0.2 + 0.001 * (round * 7 % 5), round / 2});
		return judged(compared(run), Figure::Slow);
	};
	EXPECT_EQ(of(0.1).verdict, Verdict::Slower);
	EXPECT_EQ(of(0).verdict, Verdict::NotComparable);
	EXPECT_EQ(of(0).why, Why::OtherModes);
	EXPECT_NEAR(of(0).b.value(), 0.202, 0.001) << "both stand beside each other";
	EXPECT_FALSE(of(0).p);
}

// 30 % lost: CPU time is of less work. What times say of such blocks: comparison_of_run_test.cc.
TEST(ComparedArms, LossesStandBesideWhatIsFasterOrTheSame)
{
	const auto of = [](double lost, Figure figure) {
		MadeCell lossy = slower_by(-0.1);
		lossy.lost = 4 * lost; // in one block of four
		const Comparison comparison = compared(made_run({kBase, lossy, kAgain}));
		return text::verdict_words(comparison, judged(comparison, figure));
	};
	EXPECT_EQ(of(0, Figure::Mean), "faster");
	EXPECT_EQ(of(0.002, Figure::Mean), "faster; base lost none, new 0.20 %");
	EXPECT_EQ(of(0.002, Figure::Cpu), "costs less; base lost none, new 0.20 %") << "a third of the margin is allowed";
	EXPECT_EQ(of(0.02, Figure::Cpu), "not comparable: base lost none, new 2.00 %");
	EXPECT_EQ(of(0.02, Figure::Lost), "loses more");
}

TEST(ComparedArms, BlocksThatOneArmLacksMayHideThatItIsSlower)
{
	const auto of = [](double by, uint32_t rounds_of_base, uint32_t rounds_of_new) {
		MadeCell base = kBase, other = slower_by(by);
		base.rounds = rounds_of_base;
		other.rounds = rounds_of_new;
		return judged(compared(made_run({base, other})), Figure::Mean);
	};
	EXPECT_EQ(of(-0.1, 120, 100).why, Why::MissingBlocks);
	EXPECT_EQ(of(0, 120, 100).why, Why::MissingBlocks);
	EXPECT_EQ(of(0.1, 120, 100).verdict, Verdict::Slower);
	EXPECT_EQ(of(0.1, 100, 120).why, Why::MissingBlocks);
	EXPECT_EQ(of(-0.1, 120, 114).verdict, Verdict::Faster);
}

TEST(ComparedArms, OfARunThatIsNotWholeNothingIsTheSameOrFaster)
{
	for (const bool is_cut : {true, false}) {
		const auto of = [&](double by) {
			analysis::RunResult run = made_run({kBase, slower_by(by), kAgain});
			run.truncated = is_cut;
			run.tail->interrupted = !is_cut;
			return judged(compared(run), Figure::Mean);
		};
		EXPECT_EQ(of(0).why, Why::NotWhole);
		EXPECT_EQ(of(-0.1).why, Why::NotWhole);
		EXPECT_EQ(of(0.1).verdict, Verdict::Slower);
	}
}

TEST(ComparedArms, LossesHaveAMarginOfTheirOwn)
{
	EXPECT_EQ(margin_of(Figure::Lost, 0.03).limit, kLostMargin);
	EXPECT_EQ(margin_of(Figure::Lost, 0.1).limit, kLostMargin);
	EXPECT_EQ(margin_of(Figure::Slow, 0.1).limit, 0.1);
	MadeCell base = kBase, lossy = slower_by(0);
	base.rounds = lossy.rounds = 400;
	lossy.lost = 0.02;
	analysis::RunResult run = made_run({base, lossy});
	for (stats::BlockValue &block : run.cells[1].block_figures.lost)
		block.value = block.round == 8 ? 0.8 : 0; // all of 0.2 %, in one block
	const Judged lost = judged(compared(run), Figure::Lost);
	EXPECT_EQ(lost.verdict, Verdict::Undecided) << "0 and 0.2 % aren't the same";
}

// What is told of a figure among many takes a longer run.
TEST(ComparedArms, AmongManyFiguresItTakesLongerToTell)
{
	const auto needed_of = [](int cells) {
		std::vector<MadeCell> made;
		for (int i = 0; i < cells; ++i)
			for (const char *arm : {"base", "new"})
				made.push_back({.target = "lib" + std::to_string(i), .arm = arm, .rounds = 24});
		return judged(compared(made_run(made, 3, 0.2)), Figure::Mean).needed_s.value();
	};
	EXPECT_GT(needed_of(10), 1.3 * needed_of(1));
}

TEST(ComparedArms, OneBuildTwiceIsTold)
{
	analysis::RunResult run = made_run({kBase, slower_by(0), kAgain});
	run.head.arms[1].library_path = "/new";
	EXPECT_TRUE(text::notice_words(compared(run)).empty());
	for (model::Arm &arm : run.head.arms)
		arm.loaded = {{"lib", "/usr/lib/liba.so", "", "1"}};
	EXPECT_EQ(text::notice_words(compared(run)).at(0).find("base and new had loaded the same files"), 0u);
	run.head.arms[1].loaded[0].build_id = "2";
	EXPECT_TRUE(text::notice_words(compared(run)).empty());
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
