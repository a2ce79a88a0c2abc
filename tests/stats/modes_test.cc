// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/modes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "profiler/stats/cluster_share.h"
#include "tests/stats/simulated_runs.h"

namespace icepath::stats {
namespace {

using Random = std::mt19937_64;

double standard_normal(Random &random) { return std::normal_distribution<double>()(random); }
double even(Random &random) { return std::uniform_real_distribution<double>()(random); }

// Blocks of two flows; `value(opening, flow)` in nanoseconds.
struct SimulatedRun {
	std::vector<std::vector<uint64_t>> flows; // two of each block
	std::vector<uint32_t> openings; // of blocks

	std::vector<BlockFlowValues> messages() const
	{
		std::vector<BlockFlowValues> all;
		for (size_t i = 0; i < flows.size(); ++i)
			all.push_back({flows[i], i / 2});
		return all;
	}
	Share share_in(const ModeRange &range) const
	{
		std::vector<Counted> blocks;
		for (size_t i = 0; i < openings.size(); ++i) {
			Counted &block = blocks.emplace_back();
			block.cluster = openings[i];
			for (const auto &flow : {flows[2 * i], flows[2 * i + 1]})
				for (const uint64_t value : flow) {
					++block.of;
					block.count += range.holds(value);
				}
		}
		return share_of(blocks);
	}
};

constexpr uint32_t kOpeningsOfRun = 40, kBlocksEach = 2;

using Value = std::function<double(Random &, uint32_t opening, size_t flow)>;

SimulatedRun mixed_run(Random &random, const Value &value, size_t messages = 100)
{
	SimulatedRun run;
	for (uint32_t block = 0; block < kOpeningsOfRun * kBlocksEach; ++block) {
		run.openings.push_back(block / kBlocksEach);
		for (size_t flow = 0; flow < 2; ++flow) {
			std::vector<uint64_t> &values = run.flows.emplace_back();
			for (size_t i = 0; i < messages; ++i)
				values.push_back(static_cast<uint64_t>(std::max(1.0, value(random, block / kBlocksEach, flow))));
		}
	}
	return run;
}

// One value of each opening, each near the one before, with mean 0 and standard deviation 1.
std::vector<double> wandering(Random &random, double like_the_last)
{
	std::vector<double> values = {standard_normal(random)};
	while (values.size() < kOpeningsOfRun)
		values.push_back(like_the_last * values.back() +
						 std::sqrt(1 - like_the_last * like_the_last) * standard_normal(random));
	return values;
}

struct OnePeak {
	std::string name;
	// A run's machine: what a message takes at an opening whose place is 1.
	std::function<double(Random &)> message;
	// The place of every opening.
	std::function<std::vector<double>(Random &)> places;
	double tick = 1;
	double of_flow = 1; // how many times as long the second flow takes
	double jitter = 0; // of a tick
};

std::vector<double> lucky(Random &random, double spread)
{
	std::vector<double> places;
	for (uint32_t i = 0; i < kOpeningsOfRun; ++i)
		places.push_back(std::exp(spread * standard_normal(random)));
	return places;
}

std::vector<OnePeak> one_peaked()
{
	const auto log_normal = [](double spread) {
		return [spread](Random &random) { return 8000 * std::exp(spread * standard_normal(random)); };
	};
	const auto luck = [](double spread) { return [spread](Random &random) { return lucky(random, spread); }; };
	const auto steady = [](Random &) { return std::vector<double>(kOpeningsOfRun, 1); };
	return {
		{"lognormal, wide, lucky openings", log_normal(0.4), luck(0.3)},
		{"lognormal, narrow, lucky openings", log_normal(0.05), luck(0.3)},
		{"narrow, wandering", log_normal(0.05),
		 [](Random &random) {
			 std::vector<double> places = wandering(random, 0.9);
			 for (double &place : places)
				 place = std::exp(0.4 * place);
			 return places;
		 }},
		{"narrow, a machine of two states", log_normal(0.05),
		 [](Random &random) {
			 std::vector<double> places;
			 double state = 1;
			 for (uint32_t i = 0; i < kOpeningsOfRun; ++i) {
				 if (even(random) < 0.2)
					 state = 3 - state;
				 places.push_back(state * std::exp(0.02 * standard_normal(random)));
			 }
			 return places;
		 }},
		{"narrow, to and fro", log_normal(0.05),
		 [](Random &) {
			 std::vector<double> places;
			 for (uint32_t i = 0; i < kOpeningsOfRun; ++i)
				 places.push_back(std::exp(0.5 * std::sin(0.5 * i)));
			 return places;
		 }},
		{"gamma", [](Random &random) { return std::gamma_distribution<double>(4, 2000)(random); }, luck(0.2)},
		{"exponential", [](Random &random) { return 3000 - 5000 * std::log(1 - even(random)); }, luck(0.2)},
		{"normal with an exponential tail",
		 [](Random &random) {
			 return 8000 + 400 * standard_normal(random) -
					(even(random) < 0.15 ? 30'000 * std::log(1 - even(random)) : 0);
		 },
		 luck(0.2)},
		{"heavy tail", [](Random &random) { return 5000 / std::pow(1 - even(random), 1 / 1.5); }, luck(0.1)},
		{"even", [](Random &random) { return 5000 + 10'000 * even(random); }, steady},
		{"coarse clock", log_normal(0.15), luck(0.2), 1000},
		{"coarse clock, converted", log_normal(0.15), luck(0.2), 1000, 1, 3},
		{"a flow that takes twice as long", log_normal(0.1), luck(0.1), 1, 2},
	};
}

TEST(Modes, AreNotSeenInOnePeak)
{
	Random random(1);
	const int runs = runs_to_simulate(200);
	for (const OnePeak &kind : one_peaked()) {
		int divided = 0;
		for (int run = 0; run < runs; ++run) {
			const std::vector<double> places = kind.places(random);
			const SimulatedRun simulated = mixed_run(random, [&](Random &from, uint32_t opening, size_t flow) {
				const double exact = kind.message(from) * places[opening] * (flow == 1 ? kind.of_flow : 1);
				return std::floor(exact / kind.tick) * kind.tick + std::floor(kind.jitter * even(from));
			});
			divided += !modes_of(simulated.messages()).empty();
		}
		EXPECT_LE(divided, runs / 100) << kind.name << ", of " << runs;
	}
}

TEST(Modes, AreNotMadeByStalls)
{
	Random random(2);
	const StallingMachine machine{"stalls", 0.5, 20, 0.5, true, 200};
	int divided = 0;
	const int runs = runs_to_simulate(200);
	for (int run = 0; run < runs; ++run) {
		const Blocks blocks = machine.run(random, 40);
		std::vector<BlockFlowValues> messages;
		for (size_t i = 0; i < blocks.size(); ++i)
			messages.push_back({blocks[i], i});
		divided += !modes_of(messages).empty();
	}
	EXPECT_LE(divided, runs / 100);
}

struct Mixture {
	std::string name;
	std::vector<double> shares; // of the modes
	std::vector<double> places;
	double spread = 0.06; // of messages of a mode, on the logarithm
	double wander = 1; // of the shares
	double like_the_last = 0.5; // opening
	double place_spread = 0.03; // of openings
	double tail = 0.02; // share of messages that something delays
	size_t messages = 100; // of a block and flow
	double other_state = 1; // how many times as long messages take in the second half of the run
};

double normal_below(double z) { return std::erfc(-z / std::sqrt(2)) / 2; }

// The z below which a normal number is with this probability.
double normal_quantile(double probability)
{
	double low = -10, high = 10;
	for (int i = 0; i < 60; ++i) {
		const double middle = (low + high) / 2;
		(normal_below(middle) < probability ? low : high) = middle;
	}
	return low;
}

std::vector<Mixture> mixtures()
{
	return {
		{"half and half", {0.5, 0.5}, {7000, 16'500}},
		{"openings of mostly one", {0.5, 0.5}, {7000, 16'500}, 0.06, 3},
		{"a fifth is slow", {0.8, 0.2}, {7000, 16'500}},
		{"a sixth is fast", {0.16, 0.84}, {7000, 16'500}},
		{"slow changes", {0.6, 0.4}, {7000, 16'500}, 0.06, 1, 0.9},
		{"near each other", {0.5, 0.5}, {7000, 10'500}, 0.07, 0.5, 0.5, 0.03, 0.02, 200},
		{"a machine that changes its state", {0.5, 0.5}, {7000, 16'500}, 0.06, 1, 0.5, 0.03, 0.02, 100, 1.4},
		{"three", {0.5, 0.25, 0.25}, {5000, 9000, 20'000}, 0.06, 0.5},
		{"wide", {0.5, 0.5}, {7000, 30'000}, 0.25, 1},
	};
}

// The shares wander from opening to opening. Their mean over all runs is exact: E(F(m + s z)) = F(m / sqrt(1 + s²)) for
// the normal distribution F.
SimulatedRun mixed_run(Random &random, const Mixture &mixture)
{
	const std::vector<double> wandered = wandering(random, mixture.like_the_last);
	const std::vector<double> places = lucky(random, mixture.place_spread);
	std::vector<std::vector<double>> bounds(kOpeningsOfRun); // of the modes' numbers, as cumulated shares
	for (uint32_t opening = 0; opening < kOpeningsOfRun; ++opening) {
		double sum = 0;
		for (const double share : mixture.shares) {
			sum += share;
			const double centre = normal_quantile(sum) * std::sqrt(1 + mixture.wander * mixture.wander);
			bounds[opening].push_back(normal_below(centre + mixture.wander * wandered[opening]));
		}
		bounds[opening].back() = 1;
	}
	return mixed_run(
		random,
		[&](Random &from, uint32_t opening, size_t) {
			const auto mode =
				static_cast<size_t>(std::ranges::upper_bound(bounds[opening], even(from)) - bounds[opening].begin());
			const double late = even(from) < mixture.tail ? -2000 * std::log(1 - even(from)) : 0;
			return mixture.places[std::min(mode, mixture.places.size() - 1)] * places[opening] *
					   (opening < kOpeningsOfRun / 2 ? 1 : mixture.other_state) *
					   std::exp(mixture.spread * standard_normal(from)) +
				   late;
		},
		mixture.messages);
}

TEST(Modes, OfMixturesAreFoundAndTheirSharesHold)
{
	Random random(3);
	const int runs = runs_to_simulate(200);
	for (const Mixture &mixture : mixtures()) {
		int found = 0, hold = 0, places_hold = 0, shares = 0;
		for (int run = 0; run < runs; ++run) {
			const SimulatedRun simulated = mixed_run(random, mixture);
			const std::vector<ModeRange> modes = modes_of(simulated.messages());
			if (modes.size() != mixture.shares.size())
				continue;
			++found;
			for (size_t i = 0; i < modes.size(); ++i) {
				places_hold += modes[i].holds(static_cast<uint64_t>(mixture.places[i]));
				const Share share = simulated.share_in(modes[i]);
				++shares;
				hold += share.interval && share.interval->low <= mixture.shares[i] &&
						mixture.shares[i] <= share.interval->high;
			}
		}
		EXPECT_GE(found, 0.95 * runs) << mixture.name;
		EXPECT_EQ(places_hold, shares) << mixture.name;
		EXPECT_GE(hold, 0.9 * shares) << mixture.name << ", of " << shares;
	}
}

TEST(Modes, DivideAllValues)
{
	Random random(4);
	const std::vector<ModeRange> modes = modes_of(mixed_run(random, mixtures().at(7)).messages());
	ASSERT_EQ(modes.size(), 3u);
	EXPECT_EQ(modes[0].from, 0u);
	EXPECT_EQ(modes[0].to + 1, modes[1].from);
	EXPECT_EQ(modes[1].to + 1, modes[2].from);
	EXPECT_EQ(modes[2].to, UINT64_MAX);
	// The valleys are empty from about 6000 to 7500, and from 10 800 to 16 600.
	EXPECT_NEAR(static_cast<double>(modes[1].from), 6700, 500);
	EXPECT_NEAR(static_cast<double>(modes[2].from), 13'400, 1500);
}

TEST(Modes, AreAtLeastAShareOfTheMessages)
{
	for (const bool enough : {true, false}) {
		Random random(5);
		const Mixture mixture{"", {enough ? 0.92 : 0.97, enough ? 0.08 : 0.03}, {7000, 16'500}, 0.06, 0.1, 0.5, 0.03,
							  0};
		EXPECT_EQ(modes_of(mixed_run(random, mixture).messages()).size(), enough ? 2u : 0u);
	}
}

TEST(Modes, AreApart)
{
	for (const bool apart : {true, false}) {
		Random random(6);
		const Mixture mixture{"", {0.5, 0.5}, {7000, apart ? 9500.0 : 8350.0}, 0.01, 0.5, 0.5, 0.001, 0};
		EXPECT_EQ(modes_of(mixed_run(random, mixture).messages()).size(), apart ? 2u : 0u);
	}
}

// Only some blocks have slow messages, a half each.
size_t modes_if_in(size_t blocks, size_t of)
{
	Random random(8);
	std::vector<std::vector<uint64_t>> all(of);
	for (size_t block = 0; block < of; ++block)
		for (size_t i = 0; i < 500; ++i)
			all[block].push_back(static_cast<uint64_t>((block < blocks && i % 2 == 0 ? 16'000 : 7000) *
													   std::exp(0.05 * standard_normal(random))));
	std::vector<BlockFlowValues> messages;
	for (size_t block = 0; block < of; ++block)
		messages.push_back({all[block], block});
	return modes_of(messages).size();
}

TEST(Modes, AreThoseOfEnoughBlocks)
{
	// Student's t is about the root of the number of blocks that show both: 1.5 with 2 of 12, 4.7 with 8 of 12.
	EXPECT_EQ(modes_if_in(2, 12), 0u);
	EXPECT_EQ(modes_if_in(8, 12), 2u);
}

TEST(Modes, OfFewBlocksOrOfNothingAreNotSeen)
{
	EXPECT_TRUE(modes_of({}).empty());
	Random random(7);
	std::vector<std::vector<uint64_t>> blocks(kLeastBlocksOfModes);
	for (size_t i = 0; i < 500; ++i)
		for (auto &block : blocks)
			block.push_back(
				static_cast<uint64_t>((i % 2 == 0 ? 7000 : 16'000) * std::exp(0.05 * standard_normal(random))));
	std::vector<BlockFlowValues> messages;
	for (size_t i = 0; i < blocks.size(); ++i)
		messages.push_back({blocks[i], i});
	EXPECT_EQ(modes_of(messages).size(), 2u);
	messages.pop_back();
	EXPECT_TRUE(modes_of(messages).empty());
	const std::vector<uint64_t> zeros(100), greatest(100, UINT64_MAX);
	messages.assign({{zeros, 0}, {zeros, 1}, {greatest, 2}, {greatest, 3}, {{}, 4}, {zeros, 5}, {greatest, 5}});
	EXPECT_TRUE(modes_of(messages).empty()) << "no block but one has both";
}

} // namespace
} // namespace icepath::stats
