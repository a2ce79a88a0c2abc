// SPDX-License-Identifier: Apache-2.0
// Invariants of every row in the table of factors.
#include "profiler/model/factors.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace icepath::model {
namespace {

TEST(Factors, HaveNamesOfTheirOwn)
{
	std::set<std::string> keys, options;
	for (const Factor &factor : kFactors) {
		EXPECT_TRUE(keys.insert(factor.key).second) << factor.key;
		EXPECT_TRUE(options.insert(factor.option).second) << factor.option;
		EXPECT_EQ(std::string(factor.option).substr(0, 2), "--");
		EXPECT_NE(std::string(factor.title).find("{}"), std::string::npos) << factor.key;
	}
}

TEST(Factors, EachLevelHasOneRow)
{
	Levels levels;
	uint64_t next = 1000;
	for (const Factor &factor : kFactors)
		levels.*factor.level = next++;
	for (const Factor &factor : kFactors)
		EXPECT_EQ(levels.*factor.level, 1000 + static_cast<uint64_t>(&factor - kFactors)) << factor.key;
}

TEST(Factors, WhatIsUsualCanBe)
{
	for (const Factor &factor : kFactors) {
		EXPECT_FALSE(factor.usual.empty()) << factor.key;
		EXPECT_LT(factor.least, factor.most) << factor.key;
		bool somewhere = false;
		for (size_t pattern = 0; pattern < std::size(kPatternNames); ++pattern) {
			const auto its = static_cast<Pattern>(pattern);
			EXPECT_TRUE(can_be(factor, its, neutral(factor))) << factor.key;
			EXPECT_FALSE(can_be(factor, its, factor.most + 1)) << factor.key;
			for (const uint64_t level : factor.usual)
				EXPECT_TRUE(can_be(factor, its, level) || !varies(factor, its)) << factor.key;
			somewhere |= varies(factor, its);
		}
		EXPECT_TRUE(somewhere) << factor.key;
	}
}

} // namespace
} // namespace icepath::model
