// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/ratio.h"

#include <gtest/gtest.h>

namespace icepath::bench {
namespace {

TEST(PairedRatio, IsTheGeometricMean)
{
	const auto effect = paired_ratio({{1, 2, true, 0.5}, {10, 80, true, 2.5}, {5, 20, false, 4.5}, {0, 1, false, 6.5}});
	ASSERT_TRUE(effect && effect->interval);
	EXPECT_EQ(effect->pairs, 3u);
	EXPECT_NEAR(effect->mean, 4, 1e-12);
	EXPECT_NEAR(effect->interval->low * effect->interval->high, 16, 1e-9) << "even on the logarithm";
}

} // namespace
} // namespace icepath::bench
