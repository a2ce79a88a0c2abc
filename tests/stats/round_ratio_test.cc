// SPDX-License-Identifier: Apache-2.0
// Two cells compared within rounds, also on simulated machines that change their state, whose openings have luck of
// their own: how often intervals contain the true ratio, how often a cell differs from itself, and how often cells that
// differ are told apart.
#include "profiler/stats/round_ratio.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/ranks.h"
#include "tests/stats/changing_machines.h"

namespace icepath::stats {
namespace {

using ValuesOfBlocks = std::vector<BlockValue>;

// A block in each round; a new opening every so many rounds.
ValuesOfBlocks blocks_of(const std::vector<double> &values, uint32_t rounds_of_opening = 1)
{
	ValuesOfBlocks blocks;
	for (uint32_t round = 0; round < values.size(); ++round)
		blocks.push_back({round, false, values[round], round / rounds_of_opening});
	return blocks;
}

TEST(RoundRatio, IsTheGeometricMeanOverRounds)
{
	const auto ratio = ratio_within_rounds(blocks_of({20, 40, 80, 16}), blocks_of({10, 10, 10, 8}));
	ASSERT_TRUE(ratio);
	EXPECT_EQ(ratio->rounds, 4u);
	EXPECT_EQ(ratio->openings, 4u);
	EXPECT_NEAR(ratio->ratio, std::pow(2.0 * 4 * 8 * 2, 0.25), 1e-12);
	const auto inverse = ratio_within_rounds(blocks_of({10, 10, 10, 8}), blocks_of({20, 40, 80, 16}));
	ASSERT_TRUE(inverse);
	EXPECT_NEAR(ratio->ratio * inverse->ratio, 1, 1e-12);
	EXPECT_NEAR(ratio->interval.low * inverse->interval.high, 1, 1e-12);
	EXPECT_EQ(ratio->p, inverse->p);
}

TEST(RoundRatio, CanBeTooWideToSayAnything)
{
	// Of three rounds that differ by a million times.
	const ValuesOfBlocks a = blocks_of({1e3, 1e6, 1e9}), b = blocks_of({1000, 1000, 1000});
	const auto ratio = ratio_within_rounds(a, b);
	ASSERT_TRUE(ratio);
	constexpr double kTwentySeconds = 2e10; // in nanoseconds
	EXPECT_GT(ratio->interval.high, kTwentySeconds / 1000) << "longer than the run would be a message";
	EXPECT_GT(times_too_wide(*ratio, a, b, kTwentySeconds), 1);
	EXPECT_GT(times_too_wide(inverse(*ratio), b, a, kTwentySeconds), 1) << "and the other way round";
	const ValuesOfBlocks steady = blocks_of({3000, 3100, 2900});
	EXPECT_LT(times_too_wide(*ratio_within_rounds(steady, b), steady, b, kTwentySeconds), 1);
	EXPECT_LT(times_too_wide(*ratio, a, b, std::numeric_limits<double>::infinity()), 1) << "no length is known";
}

TEST(RoundRatio, IsFreeOfTheMachinesState)
{
	const auto ratio = ratio_within_rounds(blocks_of({30, 300, 3, 33, 27}), blocks_of({20, 200, 2, 22, 18}));
	ASSERT_TRUE(ratio && ratio->p);
	EXPECT_NEAR(ratio->ratio, 1.5, 1e-12);
	EXPECT_NEAR(ratio->interval.low, 1.5, 1e-9);
	EXPECT_NEAR(ratio->interval.high, 1.5, 1e-9);
	EXPECT_LT(*ratio->p, 1e-9);
}

TEST(RoundRatio, LeavesOutRoundsThatLackACell)
{
	ValuesOfBlocks a = blocks_of({20, 40, 60, 80, 100}), b = blocks_of({10, 20, 30, 40, 50});
	a[1].treated = true; // with probes
	b[2].value = 0;
	b.erase(b.begin() + 4);
	EXPECT_FALSE(ratio_within_rounds(a, b)) << "two rounds have both";
	a[1].treated = false;
	const auto ratio = ratio_within_rounds(a, b);
	ASSERT_TRUE(ratio);
	EXPECT_EQ(ratio->rounds, 3u);
	EXPECT_NEAR(ratio->ratio, 2, 1e-12);
}

TEST(RoundRatio, HasNoProbabilityFromFewOpenings)
{
	const auto ratio = ratio_within_rounds(blocks_of({20, 41, 60, 79}, 2), blocks_of({10, 20, 30, 40}));
	ASSERT_TRUE(ratio);
	EXPECT_EQ(ratio->openings, 2u);
	EXPECT_FALSE(ratio->p);
	EXPECT_LT(ratio->interval.low, ratio->interval.high);
}

TEST(RoundRatio, AFewDisturbedRoundsChangeLittle)
{
	std::vector<double> a(40, 11), b(40, 10);
	for (size_t round = 0; round < 40; ++round)
		a[round] *= 1 + 0.001 * static_cast<double>(round % 7);
	const auto calm = ratio_within_rounds(blocks_of(a), blocks_of(b));
	a[3] *= 10;
	a[20] *= 2;
	const auto disturbed = ratio_within_rounds(blocks_of(a), blocks_of(b));
	ASSERT_TRUE(calm && disturbed && disturbed->p);
	EXPECT_NEAR(disturbed->ratio / calm->ratio, 1, 0.001);
	EXPECT_LT(*disturbed->p, 1e-6);
}

constexpr uint32_t kRounds = 48, kRoundsOfOpening = 3;

// The blocks of cells whose true values are these, in one run.
std::vector<ValuesOfBlocks> run_of(const Machine &machine, const std::vector<double> &values, std::mt19937_64 &random)
{
	std::normal_distribution<double> noise(0, 0.04), luck(0, 1);
	const std::vector<double> states = machine.states(random, kRounds);
	std::vector<ValuesOfBlocks> cells;
	for (const double value : values) {
		double factor = 1;
		ValuesOfBlocks blocks;
		for (uint32_t round = 0; round < kRounds; ++round) {
			if (round % kRoundsOfOpening == 0)
				factor = std::exp(machine.luck * luck(random));
			blocks.push_back({round, round % 2 == 1, value * states[round] * factor * std::exp(noise(random)),
							  round / kRoundsOfOpening});
		}
		cells.push_back(std::move(blocks));
	}
	return cells;
}

constexpr int kRatioRuns = 1000;

TEST(RoundRatio, ItsIntervalsContainTheTruth)
{
	for (const Machine &machine : kMachines) {
		SCOPED_TRACE(machine.name);
		std::mt19937_64 random(1);
		int held = 0;
		for (int run = 0; run < kRatioRuns; ++run) {
			const auto cells = run_of(machine, {13, 10}, random);
			const auto ratio = ratio_within_rounds(cells[0], cells[1]);
			held += ratio->interval.low <= 1.3 && 1.3 <= ratio->interval.high;
		}
		EXPECT_GE(held, kRatioRuns * 92 / 100);
	}
}

TEST(RoundRatio, TellsCellsApartWhateverTheMachineDoes)
{
	for (const Machine &machine : kMachines) {
		SCOPED_TRACE(machine.name);
		std::mt19937_64 random(2);
		int told = 0;
		for (int run = 0; run < kRatioRuns; ++run) {
			const auto cells = run_of(machine, {11.5, 10}, random);
			told += *ratio_within_rounds(cells[0], cells[1])->p < kToldApart;
		}
		EXPECT_GE(told, kRatioRuns * 95 / 100);
	}
}

// A cell measured twice, alone and among six such cells, whose fifteen pairs are corrected for their number.
TEST(RoundRatio, ACellRarelyDiffersFromItself)
{
	constexpr int kAllowed = kRatioRuns * 65 / 1000; // 5 %, and two standard deviations of such a count
	for (const Machine &machine : kMachines) {
		SCOPED_TRACE(machine.name);
		std::mt19937_64 random(3);
		int once = 0, any_of_fifteen = 0;
		for (int run = 0; run < kRatioRuns; ++run) {
			const auto cells = run_of(machine, std::vector<double>(6, 10), random);
			std::vector<double> p;
			for (size_t a = 0; a < cells.size(); ++a)
				for (size_t b = a + 1; b < cells.size(); ++b)
					p.push_back(*ratio_within_rounds(cells[a], cells[b])->p);
			once += p[0] < kToldApart;
			any_of_fifteen += std::ranges::min(corrected(p)) < kToldApart;
		}
		EXPECT_LE(once, kAllowed);
		EXPECT_LE(any_of_fifteen, kAllowed);
	}
}

TEST(TrimmedGeometricMean, LeavesOutTheFastestAndTheSlowestTenth)
{
	EXPECT_NEAR(trimmed_geometric_mean(std::vector<uint64_t>{1, 4, 4, 4, 4, 16, 16, 16, 16, 1'000'000}), 8, 1e-9);
	EXPECT_NEAR(trimmed_geometric_mean(std::vector<uint64_t>{2, 32}), 8, 1e-9);
	EXPECT_NEAR(trimmed_geometric_mean(std::vector<uint64_t>{7}), 7, 1e-9);
	EXPECT_NEAR(trimmed_geometric_mean(std::vector<uint64_t>{1, 4, 4, 4, 4, 16, 16, 16, 16}, 1), 8, 1e-9) << "a tenth";
	EXPECT_TRUE(std::isinf(trimmed_geometric_mean(std::vector<uint64_t>{1, 4, 4, 4, 16, 16, 16, 16}, 2)));
	EXPECT_TRUE(std::isinf(trimmed_geometric_mean({}, 20)));
	EXPECT_NEAR(trimmed_geometric_mean(std::vector<uint64_t>{0, 0, 0}), 1, 1e-9);
}

// Blocks of a cell whose messages take 10 µs or 40; the share of the slow ones wanders from opening to opening.
struct ModesOfBlocks {
	ValuesOfBlocks means, p50s;
};

ModesOfBlocks run_of_modes(double centre, std::mt19937_64 &random)
{
	constexpr double kFast = 10'000, kSlow = 40'000;
	std::normal_distribution<double> normal;
	ModesOfBlocks blocks;
	double slow = 0;
	for (uint32_t round = 0; round < kRounds; ++round) {
		if (round % kRoundsOfOpening == 0)
			slow = 1 / (1 + std::exp(-(centre + 0.5 * normal(random))));
		std::vector<uint64_t> messages(200);
		std::bernoulli_distribution is_slow(slow);
		for (uint64_t &message : messages)
			message = static_cast<uint64_t>((is_slow(random) ? kSlow : kFast) * std::exp(0.05 * normal(random)));
		std::ranges::sort(messages);
		const uint32_t opening = round / kRoundsOfOpening;
		blocks.means.push_back({round, false, trimmed_geometric_mean(messages), opening});
		blocks.p50s.push_back({round, false, static_cast<double>(messages[messages.size() / 2]), opening});
	}
	return blocks;
}

// A control: a cell measured twice, whose p50s jump.
TEST(TrimmedGeometricMean, OfACellWithModesRarelyDiffersFromItself)
{
	std::mt19937_64 random(4);
	int told = 0, held = 0;
	double of_means = 0, of_p50s = 0;
	for (int run = 0; run < kRatioRuns; ++run) {
		const ModesOfBlocks a = run_of_modes(0, random), b = run_of_modes(0, random);
		const RoundRatio means = ratio_within_rounds(a.means, b.means).value();
		const RoundRatio p50s = ratio_within_rounds(a.p50s, b.p50s).value();
		told += *means.p < kToldApart;
		held += means.interval.low <= 1 && 1 <= means.interval.high;
		of_means += std::log(means.interval.high / means.interval.low) / kRatioRuns;
		of_p50s += std::log(p50s.interval.high / p50s.interval.low) / kRatioRuns;
	}
	EXPECT_LE(told, kRatioRuns * 65 / 1000);
	EXPECT_GE(held, kRatioRuns * 92 / 100);
	EXPECT_LT(of_means, 0.6 * of_p50s) << "p50s jump from one mode to the other";
}

// A third of the messages of the one cell take four times as long: its p50 doesn't say so.
TEST(TrimmedGeometricMean, TellsCellsApartWhoseP50sAreAlike)
{
	std::mt19937_64 random(5);
	int by_means = 0, by_p50s = 0;
	for (int run = 0; run < kRatioRuns; ++run) {
		const ModesOfBlocks slower = run_of_modes(-0.7, random), faster = run_of_modes(-3, random);
		by_means += *ratio_within_rounds(slower.means, faster.means)->p < kToldApart;
		by_p50s += ratio_within_rounds(slower.p50s, faster.p50s)->ratio > 1.1;
	}
	EXPECT_GE(by_means, kRatioRuns * 99 / 100);
	EXPECT_LE(by_p50s, kRatioRuns / 2);
}

} // namespace
} // namespace icepath::stats
