// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/ranks.h"

#include <gtest/gtest.h>

namespace icepath::stats {
namespace {

TEST(Holm, CorrectsFromTheSmallestOn)
{
	const std::vector<double> corrected_p = corrected({0.01, 0.04, 0.03, 0.005});
	ASSERT_EQ(corrected_p.size(), 4u);
	EXPECT_DOUBLE_EQ(corrected_p[3], 4 * 0.005);
	EXPECT_DOUBLE_EQ(corrected_p[0], 3 * 0.01);
	EXPECT_DOUBLE_EQ(corrected_p[2], 2 * 0.03);
	EXPECT_DOUBLE_EQ(corrected_p[1], 2 * 0.03) << "no less than that of a smaller one";
}

TEST(Holm, IsAProbability)
{
	EXPECT_EQ(corrected({0.9, 0.8}), (std::vector<double>{1, 1}));
	EXPECT_EQ(corrected({0.03}), std::vector<double>{0.03});
	EXPECT_TRUE(corrected({}).empty());
}

TEST(Ranks, AreRangesWhereNothingIsTold)
{
	EXPECT_EQ(ranks_of(3, {}), (std::vector<Rank>{{1, 3}, {1, 3}, {1, 3}}));
	EXPECT_EQ(ranks_of(3, {{0, 1}, {0, 2}, {1, 2}}), (std::vector<Rank>{{1, 1}, {2, 2}, {3, 3}}));
	EXPECT_EQ(ranks_of(3, {{0, 2}}), (std::vector<Rank>{{1, 2}, {1, 3}, {2, 3}})) << "1 is told apart from neither";
	EXPECT_TRUE(ranks_of(0, {}).empty());
}

} // namespace
} // namespace icepath::stats
