// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/redrawn_run.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace icepath::stats {
namespace {

using Blocks = std::vector<std::vector<uint64_t>>;

// Each block repeated by its weight: the definition of a redrawn run.
std::vector<uint64_t> spelled_out(const Blocks &blocks, const Weights &weights)
{
	std::vector<uint64_t> values;
	for (size_t b = 0; b < blocks.size(); ++b)
		for (uint32_t i = 0; i < weights[b]; ++i)
			values.insert(values.end(), blocks[b].begin(), blocks[b].end());
	std::sort(values.begin(), values.end());
	return values;
}

uint64_t median_deviation_of(std::vector<uint64_t> values, uint64_t centre)
{
	for (uint64_t &value : values)
		value = std::max(value, centre) - std::min(value, centre);
	std::sort(values.begin(), values.end());
	return percentile(values, kP50);
}

double standard_deviation_of(const std::vector<uint64_t> &values)
{
	const double n = static_cast<double>(values.size());
	double mean = 0, squares = 0;
	for (const uint64_t value : values)
		mean += static_cast<double>(value) / n;
	for (const uint64_t value : values)
		squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
	return std::sqrt(squares / (n - 1));
}

TEST(RedrawnRun, IsThatOfTheBlocksThatWereDrawn)
{
	std::mt19937 random(29);
	for (int round = 0; round < 200; ++round) {
		Blocks blocks(1 + random() % 9);
		for (auto &block : blocks)
			for (size_t i = 1 + random() % 200; i > 0; --i)
				block.push_back(random() % 2 ? random() % 50 : random());
		Weights weights(blocks.size());
		for (uint32_t &weight : weights)
			weight = random() % 4;
		weights[random() % weights.size()] = 2;
		const RedrawnRun run(kept_values(blocks));
		const std::vector<uint64_t> values = spelled_out(blocks, weights);
		for (const Percentile p : kReported)
			ASSERT_EQ(run.percentile(weights, p), percentile(values, p));
		ASSERT_NEAR(run.standard_deviation(weights) / standard_deviation_of(values), 1, 1e-9);
		const uint64_t centre = percentile(values, kP50), expected = median_deviation_of(values, centre);
		for (const uint64_t near : {uint64_t{0}, expected, expected + 1, expected - 1, expected / 2, 2 * expected,
									uint64_t{random()}, UINT64_MAX})
			ASSERT_EQ(run.median_deviation(weights, centre, near), expected) << "from " << near;
	}
}

TEST(RedrawnRun, BlocksWithoutValuesHaveNoWeight)
{
	const RedrawnRun run(kept_values({{}, {7}, {}, {9}}));
	EXPECT_EQ(run.blocks(), 2u);
	EXPECT_EQ(run.values(), 2u);
	EXPECT_EQ(run.at(0), 7u);
	EXPECT_EQ(run.percentile({0, 1}, kP50), 9u);
	EXPECT_EQ(run.standard_deviation({0, 1}), 0) << "a single value";
	EXPECT_DOUBLE_EQ(run.standard_deviation({1, 1}), std::sqrt(2));
}

// The search stops at the largest and the smallest number.
TEST(RedrawnRun, DeviationsReachToBothEndsOfTheNumbers)
{
	constexpr uint64_t centre = (uint64_t{1} << 63) + 5;
	std::vector<uint64_t> values(7, 0);
	values.insert(values.end(), 6, centre);
	values.insert(values.end(), 7, UINT64_MAX);
	const RedrawnRun run(kept_values({values}));
	ASSERT_EQ(run.percentile({1}, kP50), centre);
	for (const uint64_t near : {uint64_t{0}, uint64_t{1} << 63, UINT64_MAX})
		EXPECT_EQ(run.median_deviation({1}, centre, near), UINT64_MAX - centre);
}

} // namespace
} // namespace icepath::stats
