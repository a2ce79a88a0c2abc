// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/counters.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace icepath::model {
namespace {

const CounterField &field_of(Count Counters::*count)
{
	for (const CounterField &field : kCounterFields)
		if (field.count == count)
			return field;
	throw std::logic_error("a counter without a name");
}

const CounterField &kCycles = field_of(&Counters::cycles), &kMisses = field_of(&Counters::cache_misses),
				   &kMigrations = field_of(&Counters::migrations);

TEST(Counters, CountedAllTheTimeNeedsNoScaling)
{
	EXPECT_EQ(scaled({0, 12345, 1000, 1000}, kCycles), 12345);
	EXPECT_EQ(scaled({0, 0, 1000, 1000}, kMisses), 0);
	EXPECT_EQ(scaled({0, 4, 0, 0}, kMigrations), 4);
	EXPECT_EQ(scaled({0, 0, 0, 0}, kMigrations), 0);
}

TEST(Counters, MultiplexedIsScaledByTheTimeThatItRan)
{
	EXPECT_EQ(scaled({0, 300, 1000, 250}, kCycles), 1200);
	EXPECT_EQ(scaled({0, kMostCounted, kMostCounted, 1}, kCycles), 1e30) << "no overflow";
}

TEST(Counters, AbsentIsNothingAndNeverZero)
{
	EXPECT_FALSE(scaled({}, kCycles));
	EXPECT_FALSE(scaled({ENOENT, 7, 9, 9}, kCycles));
	EXPECT_FALSE(scaled({0, 0, 1000, 0}, kMisses)) << "it never ran";
	EXPECT_EQ(absence({0, 0, 1000, 0}, kMisses), EBUSY);
	EXPECT_FALSE(scaled({0, 0, 1000, 1000}, kCycles)) << "a thread that ran has cycles";
	EXPECT_EQ(absence({0, 0, 1000, 1000}, kCycles), ENODATA);
	EXPECT_EQ(absence({EACCES, 0, 0, 0}, kCycles), EACCES);
}

TEST(Counters, WhatAWorkerTellsIsCheckedOneByOne)
{
	Counters told;
	told.migrations = {0, 2, 0, 0};
	told.cycles = {0, 5, 9, 10};
	told.instructions = {0, kMostCounted + 1, 9, 9};
	told.cache_references = {-2, 1, 2, 3};
	told.cache_misses = {ENOENT, 1, 2, 3};
	told.branches = {0, 5, 9, 9};
	told.user_only = 77;
	const Counters checked = believable(told, true);
	EXPECT_EQ(checked.migrations.counted, 2u);
	for (const Count &count : {checked.cycles, checked.instructions, checked.cache_references}) {
		EXPECT_EQ(count.error, EPROTO);
		EXPECT_EQ(count.counted + count.enabled_ns + count.running_ns, 0u);
	}
	EXPECT_EQ(checked.cache_misses.error, ENOENT);
	EXPECT_EQ(checked.cache_misses.counted, 0u);
	EXPECT_EQ(checked.branches.counted, 5u);
	EXPECT_EQ(checked.branch_misses.error, kNotAsked);
	EXPECT_EQ(checked.user_only, 1u);
	EXPECT_TRUE(hardware_was_on(checked));
	const Counters not_asked = believable(told, false);
	EXPECT_FALSE(hardware_was_on(not_asked));
	EXPECT_EQ(not_asked.branches.counted, 0u);
	EXPECT_EQ(not_asked.user_only, 0u);
	EXPECT_EQ(not_asked.migrations.counted, 2u);
}

TEST(Counters, EveryAbsenceIsOneClearSentence)
{
	for (const bool hardware : {false, true})
		for (int32_t error = kNotAsked; error <= 4096; error++) {
			const std::string why = why_absent(error, hardware);
			EXPECT_GT(why.size(), 20u) << error;
			EXPECT_FALSE(why.ends_with('.')) << why;
		}
	EXPECT_NE(why_absent(EACCES, true).find("kernel.perf_event_paranoid"), std::string::npos);
	EXPECT_NE(why_absent(ENOENT, true), why_absent(ENOENT, false));
}

} // namespace
} // namespace icepath::model
