// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/cluster_share.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "profiler/stats/distributions.h"
#include "tests/stats/simulated_runs.h"

namespace icepath::stats {
namespace {

TEST(ClusterShare, IsThatOfTheFormula)
{
	// Three openings of 100 messages, one of them in two blocks: 40, 50 and 60 of the kind.
	const Share share = share_of({{40, 100, 7}, {20, 60, 8}, {30, 40, 8}, {60, 100, 9}, {0, 0, 10}});
	EXPECT_EQ(share.count, 150u);
	EXPECT_EQ(share.of, 300u);
	EXPECT_DOUBLE_EQ(share.value(), 0.5);
	ASSERT_TRUE(share.interval);
	// V = 3/2 · (10² + 0 + 10²) / 300², on the logit divided by (1/2 · 1/2)².
	const double half = t_975(2) * std::sqrt(1.5 * 200 / 90'000) / 0.25;
	EXPECT_NEAR(share.interval->low, 1 / (1 + std::exp(half)), 1e-9);
	EXPECT_NEAR(share.interval->high, 1 / (1 + std::exp(-half)), 1e-9);
}

TEST(ClusterShare, HasNoIntervalWithoutEvidence)
{
	EXPECT_EQ(share_of({}).of, 0u);
	EXPECT_FALSE(share_of({{1, 2, 1}, {1, 3, 2}}).interval);
	EXPECT_FALSE(share_of({{0, 2, 1}, {0, 3, 2}, {0, 3, 3}}).interval) << "none met by chance is not never";
	EXPECT_FALSE(share_of({{2, 2, 1}, {3, 3, 2}, {3, 3, 3}}).interval);
	EXPECT_TRUE(share_of({{1, 2, 1}, {1, 3, 2}, {2, 3, 3}}).interval);
}

TEST(ClusterShare, OfTheOtherMessagesIsTheComplement)
{
	std::vector<Counted> kind, other;
	std::mt19937 random(1);
	for (uint32_t i = 0; i < 30; ++i) {
		const uint64_t of = 50 + random() % 100, count = random() % of;
		kind.push_back({count, of, i});
		other.push_back({of - count, of, i});
	}
	const Share a = share_of(kind), b = share_of(other);
	EXPECT_NEAR(a.interval->low, 1 - b.interval->high, 1e-9);
	EXPECT_NEAR(a.interval->high, 1 - b.interval->low, 1e-9);
}

// Shares of openings are a logistic or a stepping function of a walk, so most of an opening is often of one kind.
TEST(ClusterShare, IsWithinItsInterval)
{
	std::mt19937_64 random(2);
	std::normal_distribution<double> normal;
	const auto below = [](double z) { return std::erfc(-z / std::sqrt(2)) / 2; };
	const int runs = runs_to_simulate(1000);
	for (const double like_the_last : {0.0, 0.5, 0.9})
		for (const size_t openings : {12, 30, 100})
			for (const double centre : {0.0, -1.2}) {
				constexpr double kWander = 1.5;
				const double truth = below(centre / std::sqrt(1 + kWander * kWander));
				int hold = 0;
				for (int run = 0; run < runs; ++run) {
					double z = normal(random);
					std::vector<Counted> blocks;
					for (uint32_t opening = 0; opening < openings; ++opening) {
						const double share = below(centre + kWander * z);
						for (int block = 0; block < 2; ++block) {
							const uint64_t of = 300 + random() % 700;
							blocks.push_back({std::binomial_distribution<uint64_t>(of, share)(random), of, opening});
						}
						z = like_the_last * z + std::sqrt(1 - like_the_last * like_the_last) * normal(random);
					}
					const Share share = share_of(blocks);
					hold += share.interval && share.interval->low <= truth && truth <= share.interval->high;
				}
				// Twelve openings that resemble each other are worth a few independent ones.
				const bool few = like_the_last > 0 && openings < 30;
				EXPECT_GE(hold, (few ? 0.72 : 0.9) * runs)
					<< openings << " openings, like the last by " << like_the_last << ", share " << truth;
			}
}

} // namespace
} // namespace icepath::stats
