// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/fitness_words.h"

#include <gtest/gtest.h>

namespace icepath::text {
namespace {

TEST(FitnessWords, AreToldInPlainNumbers)
{
	const auto told = model::fitness({{{0, 6'600'000'000, 10, 6'600'000'000, 6'550'000'000, {}, ""}}, {{61, 63}}, {}});
	EXPECT_EQ(found_text(told[0]), "others took 100 % of CPU 0's time in 6.6 s");
	EXPECT_EQ(found_text(told[2]), "100 % in gaps, the longest 6.55 s");
	EXPECT_EQ(found_text(told[1]), found_text(told[0])) << "what is taken hides what the round trip tells";
	const auto calm = model::fitness({{{0, 1'000'000'000, 10, 900'000, 90'000, {}, ""}}, {{61, 63}}, {}});
	EXPECT_EQ(found_text(calm[1]), "a cache line takes 61 to 63 ns to the other CPU and back");
	EXPECT_EQ(found_text(model::fitness({})[0]), "the CPUs' noise wasn't measured");
	EXPECT_EQ(found_text(model::fitness({})[1]), "the round trip between the CPUs wasn't measured");
	const auto later = model::fitness({{{0, 1'000'000'000, 10, 900'000, 90'000, {}, ""}},
									   {{61, 63}},
									   {},
									   {{1, 1'000'000'000, 10, 120'000'000, 90'000, {}, ""}}});
	for (const model::Fitness &one : later)
		EXPECT_EQ(found_text(one), "others kept workers off CPU 1 for 12 % of the run");
	EXPECT_EQ(threshold_text(model::Purpose::Ranks), "< 5 %, < 1.5 times apart");
}

} // namespace
} // namespace icepath::text
