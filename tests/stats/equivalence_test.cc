// SPDX-License-Identifier: Apache-2.0
// Cells called the same, on simulated machines that change their state, whose openings have luck of their own, whose
// messages have modes and whose blocks are now and then bad: how often equals are told apart, how often a difference of
// the limit is called none, and whether a run as long as announced decides as often as announced.
#include "profiler/stats/equivalence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "profiler/stats/ranks.h"
#include "tests/stats/changing_machines.h"

namespace icepath::stats {
namespace {

constexpr double kDelta = 0.03;
const Margin kThreePercent{std::log1p(kDelta), 0};
constexpr int kTrials = 1000;
constexpr int kFivePercent = kTrials * 65 / 1000; // and two standard deviations of such a count

// What cells have beside the machine's states.
struct Disturbed {
	Machine machine;
	double bad = 0; // share of blocks that take three to ten times as long
	double wander = 0; // of the share of slow messages, from opening to opening
};

std::vector<Disturbed> disturbed_machines()
{
	std::vector<Disturbed> all;
	for (const Machine &machine : kMachines)
		all.push_back({machine});
	all.push_back({{"rare bad blocks", drifting, 0.02}, 0.03, 0});
	all.push_back({{"modes", drifting, 0.01}, 0, 0.1});
	return all;
}

// One cell for each of the values, which are true ones; each opening measures two rounds.
std::vector<std::vector<BlockValue>> arms_of(const Disturbed &on, const std::vector<double> &values, uint32_t openings,
											 std::mt19937_64 &random)
{
	std::normal_distribution<double> normal;
	std::uniform_real_distribution<double> even(0, 1);
	const std::vector<double> states = on.machine.states(random, 2 * openings);
	std::vector<std::vector<BlockValue>> arms;
	for (const double value : values) {
		std::vector<BlockValue> &blocks = arms.emplace_back();
		double luck = 1, slow = 0;
		for (uint32_t round = 0; round < 2 * openings; ++round) {
			if (round % 2 == 0) {
				luck = std::exp(on.machine.luck * normal(random));
				slow = std::clamp(0.3 + on.wander * normal(random), 0.0, 1.0);
			}
			const double bad = even(random) < on.bad ? 3 + 7 * even(random) : 1;
			const double modes = on.wander > 0 ? std::exp(std::numbers::ln2 * slow) : 1; // slow ones take twice as long
			blocks.push_back({round, false,
							  value * states[round] * luck * bad * modes * std::exp(0.02 * normal(random)), round / 2});
		}
	}
	return arms;
}

RoundDifference of_arms(const std::vector<std::vector<BlockValue>> &arms, size_t b, Trim trim = Trim::Fifths)
{
	return difference_within_rounds(arms[b], arms[0], Scale::Logs, trim).value();
}

bool is_told(const RoundDifference &difference, double p)
{
	return p < kToldApart && (difference.interval().low > 0 || difference.interval().high < 0);
}

bool is_same(const RoundDifference &difference, const Margin &margin)
{
	return p_of_margin(difference, margin).value() < kSame;
}

TEST(Equivalence, EqualsAreRarelyToldApartAmongFourCells)
{
	for (const Disturbed &on : disturbed_machines()) {
		SCOPED_TRACE(on.machine.name);
		std::mt19937_64 random(1);
		int any_of_four = 0;
		for (int trial = 0; trial < kTrials; ++trial) {
			std::vector<RoundDifference> differences;
			std::vector<double> p;
			for (int cell = 0; cell < 4; ++cell)
				p.push_back(*differences.emplace_back(of_arms(arms_of(on, {10, 10}, 24, random), 1)).p);
			p = corrected(p);
			bool any = false;
			for (size_t cell = 0; cell < 4; ++cell)
				any = any || is_told(differences[cell], p[cell]);
			any_of_four += any;
		}
		EXPECT_LE(any_of_four, kFivePercent);
	}
}

TEST(Equivalence, ADifferenceOfTheLimitIsRarelyCalledNone)
{
	for (const Disturbed &on : disturbed_machines())
		for (const double truth : {1 + kDelta, 1 / (1 + kDelta)})
			for (const uint32_t openings : {6u, 24u, 200u}) {
				SCOPED_TRACE(on.machine.name);
				std::mt19937_64 random(2);
				int same = 0;
				for (int trial = 0; trial < kTrials; ++trial)
					same += is_same(of_arms(arms_of(on, {10, 10 * truth}, openings, random), 1), kThreePercent);
				EXPECT_LE(same, kFivePercent) << openings << " openings";
			}
}

// A tail that is ten times as long in so few rounds that the mean of logarithms is off by the limit: most of such runs
// of 100 openings meet one of these rounds, and those that don't look like equals.
TEST(Equivalence, WhatNoRoundShowedIsNotCalledNone)
{
	constexpr double kTimes = 10;
	const double often = std::log1p(kDelta) / std::log(kTimes);
	const Margin careful{std::log1p(kDelta), std::log(kTimes)};
	for (const uint32_t openings : {40u, 120u, 250u}) {
		std::mt19937_64 random(3);
		std::bernoulli_distribution is_long(often);
		int same = 0, without = 0;
		for (int trial = 0; trial < kTrials; ++trial) {
			auto arms = arms_of({kMachines[0]}, {10, 10}, openings, random);
			for (BlockValue &block : arms[1])
				block.value *= is_long(random) ? kTimes : 1;
			const RoundDifference difference = of_arms(arms, 1, Trim::Nothing);
			same += is_same(difference, careful);
			without += is_same(difference, kThreePercent);
		}
		EXPECT_LE(same, kFivePercent) << openings;
		if (openings == 40) {
			EXPECT_GT(without, kTrials / 10) << "the test sees what it is for";
		}
	}
}

TEST(Equivalence, EqualsAreCalledTheSameInALongRun)
{
	std::mt19937_64 random(4);
	int same = 0, as_tails = 0;
	for (int trial = 0; trial < 100; ++trial) {
		const auto arms = arms_of({kMachines[0]}, {10, 10}, 400, random);
		same += is_same(of_arms(arms, 1), kThreePercent);
		as_tails += is_same(of_arms(arms, 1, Trim::Nothing), {kThreePercent.limit, std::numbers::ln10});
	}
	EXPECT_EQ(same, 100);
	EXPECT_GE(as_tails, 95);
}

// For each short run that doesn't decide, one as long as it announces: of one figure, and of one among thirty.
void expect_announced_power(const Disturbed &on, uint32_t openings, size_t among)
{
	constexpr int kPilots = 200;
	const double told_below = kToldApart / static_cast<double>(among);
	std::mt19937_64 random(5);
	int announced = 0, same = 0, told = 0;
	for (int pilot = 0; pilot < kPilots; ++pilot) {
		const RoundDifference of_pilot = of_arms(arms_of(on, {10, 10}, openings, random), 1);
		const auto needed = openings_needed(of_pilot, kThreePercent, told_below);
		if (!needed || *needed > 3000)
			continue;
		++announced;
		const auto arms = arms_of(on, {10, 10, 10 * (1 + kDelta)}, static_cast<uint32_t>(*needed), random);
		same += is_same(of_arms(arms, 1), kThreePercent);
		const RoundDifference apart = of_arms(arms, 2);
		told += *apart.p < told_below && is_told(apart, *apart.p);
	}
	ASSERT_GE(announced, kPilots * 9 / 10);
	const double least = static_cast<double>(std::min(same, told)) / announced;
	EXPECT_GE(least, kPower - 0.1) << same << " the same, " << told << " told of " << announced;
	EXPECT_LE(least, kPower + 0.1) << same << " the same, " << told << " told of " << announced;
}

TEST(Equivalence, ARunAsLongAsAnnouncedDecidesAsOftenAsAnnounced)
{
	for (const Disturbed &on : disturbed_machines())
		for (const uint32_t openings : {6u, 12u, 24u})
			for (const size_t among : {1u, 30u}) {
				if (on.machine.luck == 0)
					continue; // which decides at once
				if (on.bad > 0 && openings < kTrimmedFrom)
					continue; // a bad block makes most of such a run's variance, and the announced run far too long
				SCOPED_TRACE(on.machine.name + (", " + std::to_string(openings)) + " openings, one figure of " +
							 std::to_string(among));
				expect_announced_power(on, openings, among);
			}
}

TEST(Equivalence, TakesThreeOpenings)
{
	std::vector<BlockValue> a, b;
	for (uint32_t round = 0; round < 8; ++round) {
		a.push_back({round, false, 10, round / 4});
		b.push_back({round, false, 10.01, round / 4});
	}
	const auto of_two = difference_within_rounds(b, a, Scale::Logs, Trim::Fifths);
	ASSERT_TRUE(of_two);
	EXPECT_EQ(of_two->openings, 2u);
	EXPECT_FALSE(p_of_margin(*of_two, kThreePercent));
	EXPECT_FALSE(openings_needed(*of_two, kThreePercent, kToldApart));
	for (uint32_t round = 0; round < 8; ++round)
		a[round].opening = b[round].opening = round / 2;
	const auto of_four = difference_within_rounds(b, a, Scale::Logs, Trim::Fifths);
	EXPECT_LT(p_of_margin(*of_four, kThreePercent).value(), 1e-6) << "nothing varies";
	EXPECT_GT(p_of_margin(*of_four, {0.0005, 0}).value(), 0.99) << "0.1 % is beyond that";
	EXPECT_EQ(p_of_margin(*of_four, {kThreePercent.limit, std::numbers::ln10}), 1) << "four openings show no tail";
	EXPECT_EQ(openings_needed(*of_four, kThreePercent, kToldApart), 3u);
	EXPECT_GE(openings_needed(*of_four, {kThreePercent.limit, std::numbers::ln10}, kToldApart), 230u)
		<< "the rule of three";
}

// Shares of messages are compared by their difference; nothing may be lost in all rounds.
TEST(RoundDifference, OfSharesIsPlain)
{
	std::vector<BlockValue> a, b;
	for (uint32_t round = 0; round < 24; ++round) {
		a.push_back({round, false, 0, round / 2});
		b.push_back({round, false, round == 5 ? 0.12 : 0, round / 2});
	}
	const auto difference = difference_within_rounds(b, a, Scale::Plain, Trim::Nothing);
	ASSERT_TRUE(difference);
	EXPECT_NEAR(difference->mean, 0.005, 1e-12) << "untrimmed: one round of 24 counts";
	EXPECT_NEAR(difference->a, 0.005, 1e-12);
	EXPECT_EQ(difference->b, 0);
	EXPECT_EQ(difference->rounds, 24u);
	EXPECT_GT(difference->p.value(), 0.2) << "one opening of twelve";
	EXPECT_FALSE(difference_within_rounds(b, a, Scale::Logs, Trim::Nothing)) << "0 has no logarithm";
}

// Of blocks that lost so much that their values are of a lost message.
TEST(RoundDifference, LostBlocksAreLeftOutWithTheFifthsOrNotKnown)
{
	constexpr double kLost = std::numeric_limits<double>::infinity();
	const auto of = [](const std::vector<uint32_t> &lost_a, const std::vector<uint32_t> &lost_b, Trim trim) {
		std::vector<BlockValue> a, b;
		for (uint32_t round = 0; round < 40; ++round) {
			const auto lost_in = [&](const std::vector<uint32_t> &lost) { return std::ranges::count(lost, round) > 0; };
			a.push_back({round, false, lost_in(lost_a) ? kLost : 10, round / 2});
			b.push_back({round, false, lost_in(lost_b) ? kLost : 11 + 0.01 * (round % 3), round / 2});
		}
		return difference_within_rounds(b, a, Scale::Logs, trim).value();
	};
	const RoundDifference some = of({1}, {5, 9, 20}, Trim::Fifths);
	ASSERT_TRUE(some.is_known());
	EXPECT_NEAR(some.mean, std::log(1.101), 0.001);
	EXPECT_NEAR(some.a, 11.01, 0.01);
	EXPECT_TRUE(some.p && std::isfinite(some.interval().high));
	for (const RoundDifference &one :
		 {of({1}, {}, Trim::Nothing), of({1}, {1}, Trim::Fifths), of({}, {0, 1, 2, 3, 4, 5, 6, 7, 8}, Trim::Fifths)}) {
		EXPECT_FALSE(one.is_known());
		EXPECT_FALSE(one.p);
	}
}

} // namespace
} // namespace icepath::stats
