// SPDX-License-Identifier: Apache-2.0
#include "cpuset/cpulist.h"

#include <random>

#include <gtest/gtest.h>

namespace icepath::cpuset {

TEST(Cpulist, ReadsWhatTheKernelPrints)
{
	EXPECT_EQ(parse_cpulist("0"), (CpuList{0}));
	EXPECT_EQ(parse_cpulist("0-3,5\n"), (CpuList{0, 1, 2, 3, 5}));
	EXPECT_EQ(parse_cpulist("\n"), CpuList{});
	EXPECT_EQ(parse_cpulist(" (null)\n"), CpuList{});
}

TEST(Cpulist, SortsAndKeepsEachOnce) { EXPECT_EQ(parse_cpulist("5,1-3,2"), (CpuList{1, 2, 3, 5})); }

TEST(Cpulist, RefusesEverythingElse)
{
	for (const char *text :
		 {"a", "1,", ",1", "1-", "-1", "3-1", "1--2", "0x1", "1 2", "65536", "4294967296", "0-99999", "+1"})
		EXPECT_FALSE(parse_cpulist(text)) << text;
}

TEST(Cpulist, PrintsRanges)
{
	EXPECT_EQ(format_cpulist({}), "");
	EXPECT_EQ(format_cpulist({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

TEST(Cpulist, WhatWasPrintedReadsBackTheSame)
{
	std::mt19937 random(1);
	for (int round = 0; round < 200; ++round) {
		CpuList cpus;
		for (uint32_t cpu = 0; cpu < 300; ++cpu)
			if (random() % 3 == 0)
				cpus.push_back(cpu);
		EXPECT_EQ(parse_cpulist(format_cpulist(cpus)), cpus);
	}
}

TEST(Cpulist, AnyTextIsRefusedOrReadsBackTheSame)
{
	constexpr std::string_view kAlphabet = "0123456789-,, \nx";
	std::mt19937 random(2);
	for (int round = 0; round < 20000; ++round) {
		std::string text;
		for (size_t length = random() % 12; length > 0; --length)
			text += kAlphabet[random() % kAlphabet.size()];
		if (const auto cpus = parse_cpulist(text)) {
			EXPECT_EQ(parse_cpulist(format_cpulist(*cpus)), cpus) << text;
		}
	}
}

} // namespace icepath::cpuset
