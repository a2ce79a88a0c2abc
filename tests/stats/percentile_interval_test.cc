// SPDX-License-Identifier: Apache-2.0
// The interval of a p50: its definition, spelled out, and simulated runs with a known p50.
#include "profiler/stats/percentile_interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/distributions.h"
#include "tests/stats/simulated_runs.h"

namespace icepath::stats {
namespace {

// Of the mean of equal clusters, which are too few for stretches.
Interval share_interval(const std::vector<double> &shares)
{
	const double n = static_cast<double>(shares.size());
	double mean = 0, squares = 0;
	for (const double share : shares)
		mean += share / n;
	if (mean <= 0 || mean >= 1)
		return {mean, mean};
	for (const double share : shares)
		squares += (share - mean) * (share - mean);
	const double half = t_975(n - 1) * std::sqrt(squares / (n - 1) / n);
	return {mean - half, mean + half};
}

// Whether half of the messages may lie up to this value.
bool may_be_p50(const Blocks &blocks, double value)
{
	const auto shares = [&](const std::function<bool(double)> &counts) {
		std::vector<double> of_blocks;
		for (const auto &block : blocks)
			of_blocks.push_back(static_cast<double>(std::ranges::count_if(
									block, [&](uint64_t one) { return counts(static_cast<double>(one)); })) /
								static_cast<double>(block.size()));
		return share_interval(of_blocks);
	};
	return shares([&](double one) { return one <= value; }).high >= 0.5 &&
		   shares([&](double one) { return one < value; }).low <= 0.5;
}

Interval interval_of(const Blocks &blocks)
{
	return interval_by_shares(RedrawnRun(kept_values(blocks)), kP50, numbered({}, blocks.size()));
}

TEST(PercentileInterval, EndsWhereHalfOfTheMessagesCannotLieUpTo)
{
	std::mt19937 random(7);
	for (int run = 0; run < 50; ++run) {
		Blocks blocks(4 + random() % 4);
		std::vector<double> values;
		for (auto &block : blocks) {
			const uint64_t about = 100 + random() % 30;
			for (int i = 0; i < 40; ++i)
				values.push_back(static_cast<double>(block.emplace_back(about + random() % 60)));
		}
		std::ranges::sort(values);
		const Interval interval = interval_of(blocks);
		EXPECT_TRUE(may_be_p50(blocks, interval.low) && may_be_p50(blocks, interval.high));
		const auto below = std::ranges::lower_bound(values, interval.low);
		const auto above = std::ranges::upper_bound(values, interval.high);
		EXPECT_TRUE(below == values.begin() || !may_be_p50(blocks, *(below - 1)));
		EXPECT_TRUE(above == values.end() || !may_be_p50(blocks, *above));
	}
}

TEST(PercentileInterval, EndsAtMeasuredValues)
{
	const std::vector<uint64_t> fast(99, 10), slow(99, 900);
	const Interval unsure = interval_of({fast, slow, fast, slow, fast});
	EXPECT_EQ(unsure.low, 10);
	EXPECT_EQ(unsure.high, 900);
	const Interval sure = interval_of({fast, fast, fast, fast});
	EXPECT_EQ(sure.low, 10);
	EXPECT_EQ(sure.high, 10);
}

// A machine whose openings have a share of slow messages each, or a place.
struct Opening {
	double slow = 0, shift = 0;
};

constexpr size_t kOpenings = 40, kMessages = 100;
constexpr double kFast = 8000, kSlow = 16'000;

std::vector<uint64_t> block_of(const Opening &opening, std::mt19937_64 &random)
{
	std::normal_distribution<double> normal;
	std::bernoulli_distribution is_slow(opening.slow);
	std::vector<uint64_t> block;
	for (size_t i = 0; i < kMessages; ++i)
		block.push_back(static_cast<uint64_t>(
			std::llround((is_slow(random) ? kSlow : kFast) * std::exp(opening.shift + 0.03 * normal(random)))));
	return block;
}

struct StateMachine {
	const char *name;
	std::function<Opening(std::mt19937_64 &, Opening before)> next;
	int least = 93; // percent of the intervals that hold the truth
};

double wandering_share(std::mt19937_64 &random, double centre)
{
	std::normal_distribution<double> normal(centre, 1.5);
	return 1 / (1 + std::exp(-normal(random)));
}

const std::vector<StateMachine> kStateMachines = {
	{"one mode", [](auto &random, Opening) { return Opening{0, std::normal_distribution<double>(0, 0.2)(random)}; }},
	{"two modes, mostly fast", [](auto &random, Opening) { return Opening{wandering_share(random, -1), 0}; }},
	{"two modes, alike", [](auto &random, Opening) { return Opening{wandering_share(random, -0.2), 0}; }},
	// A run sees five states, and no interval has those that it didn't see.
	{"stays in a state",
	 [](auto &random, Opening before) {
		 return random() % 8 ? before : Opening{0, std::normal_distribution<double>(0, 0.2)(random)};
	 },
	 80},
};

Blocks run_of(const StateMachine &machine, std::mt19937_64 &random, size_t openings)
{
	Blocks blocks;
	Opening opening = machine.next(random, {});
	for (size_t i = 0; i < openings; ++i)
		blocks.push_back(block_of(opening = machine.next(random, opening), random));
	return blocks;
}

double p50_of(const Blocks &blocks)
{
	std::vector<double> all;
	for (const auto &block : blocks)
		all.insert(all.end(), block.begin(), block.end());
	return median(all);
}

TEST(PercentileInterval, HoldsTheTruth)
{
	const int runs = runs_to_simulate(400);
	for (const StateMachine &machine : kStateMachines) {
		std::mt19937_64 random(5);
		const double truth = p50_of(run_of(machine, random, 20'000));
		int holds = 0;
		for (int run = 0; run < runs; ++run) {
			const Interval interval = interval_of(run_of(machine, random, kOpenings));
			holds += interval.low <= truth && truth <= interval.high;
		}
		std::printf("%s: %d of %d hold the p50\n", machine.name, holds, runs);
		EXPECT_GE(holds, runs * machine.least / 100) << machine.name;
	}
}

// A p50 that no opening had, or hardly, isn't theirs.
TEST(PercentileInterval, IsWithinWhatOpeningsHad)
{
	const int runs = runs_to_simulate(400);
	for (const StateMachine &machine : kStateMachines) {
		std::mt19937_64 random(6);
		int beyond = 0;
		for (int run = 0; run < runs; ++run) {
			const Blocks blocks = run_of(machine, random, kOpenings);
			std::vector<double> p50s;
			for (const auto &block : blocks)
				p50s.push_back(p50_of({block}));
			const Interval interval = interval_of(blocks);
			beyond += interval.low < 0.95 * std::ranges::min(p50s) || interval.high > 1.05 * std::ranges::max(p50s);
		}
		std::printf("%s: %d of %d end beyond all openings\n", machine.name, beyond, runs);
		EXPECT_LE(beyond, runs / 100) << machine.name;
	}
}

} // namespace
} // namespace icepath::stats
