// SPDX-License-Identifier: Apache-2.0
// How far the two ends of a stream are apart, told while takes and gives are under way.
#include "ebpf/shift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

constexpr uint32_t kOne = 1, kOther = 2;

// A stream of both directions in one: what is given, queued, taken out and counted are steps of their own.
class Shift : public testing::Test {
protected:
	void queue(uint64_t bytes) { queued += bytes; }
	// As a give that queued `bytes` at `begin_ns` returns now.
	void give_ends(uint32_t giver, uint64_t begin_ns, uint64_t bytes, uint64_t queued_then, uint64_t taken_then)
	{
		if (was_alone(&stream, giver, begin_ns))
			look(&stream, taken_then + queued_then - given - bytes, taken_then, ++now);
		given += bytes;
		stream.giver = giver;
		stream.gave_ns = ++now;
	}
	void give(uint32_t giver, uint64_t bytes)
	{
		const uint64_t begin_ns = ++now;
		queue(bytes);
		give_ends(giver, begin_ns, bytes, queued, taken);
	}
	void take_all()
	{
		taken += queued;
		queued = 0;
	}
	bool is_right() const { return stream.is_shifted && stream.shift == kTrue; }

	static constexpr uint64_t kTrue = 1000;
	icepath_stream stream{};
	uint64_t now = 1, queued = 0, taken = kTrue, given = 0;
};

TEST_F(Shift, IsKnownOnceLooksAgree)
{
	for (int i = 0; i < ICEPATH_LOOKS_THAT_AGREE; i++) {
		EXPECT_FALSE(stream.is_shifted);
		give(kOne, 20);
		take_all();
	}
	EXPECT_TRUE(is_right());
}

// A taker loses its CPU after it took 50 bytes out and before that is counted, and hundreds of gives follow.
TEST_F(Shift, ATakeThatIsStuckIsntBelieved)
{
	give(kOne, 50);
	queued -= 50;
	for (int i = 0; i < 300; i++)
		give(kOne, 20);
	EXPECT_FALSE(stream.is_shifted);
	taken += 50;
	for (int i = 0; i < ICEPATH_LOOKS_THAT_AGREE; i++) {
		give(kOne, 20);
		take_all();
	}
	EXPECT_TRUE(is_right());
}

TEST_F(Shift, AKnownOneIsntGivenUpForATakeThatIsStuck)
{
	for (int i = 0; i < 2 * ICEPATH_LOOKS_THAT_CORRECT; i++) {
		give(kOne, 20);
		take_all();
	}
	give(kOne, 50);
	queued -= 50;
	for (int i = 0; i < 300; i++) {
		give(kOne, 20);
		EXPECT_TRUE(is_right());
	}
}

// A giver loses its CPU after it queued 70 bytes and before that is counted. Meanwhile another one's looks agree.
TEST_F(Shift, WhatWasLookedAtDuringAnothersGiveIsTakenBack)
{
	const uint64_t begin_ns = ++now;
	queue(70);
	const uint64_t queued_then = queued, taken_then = taken;
	for (int i = 0; i < 3 * ICEPATH_LOOKS_THAT_AGREE; i++) {
		give(kOne, 20);
		take_all();
	}
	EXPECT_TRUE(stream.is_shifted) << "nothing shows the other give yet";
	give_ends(kOther, begin_ns, 70, queued_then, taken_then);
	EXPECT_FALSE(stream.is_shifted);
	for (int i = 0; i < ICEPATH_LOOKS_THAT_AGREE; i++) {
		give(kOne, 20);
		take_all();
	}
	EXPECT_TRUE(is_right());
}

// One was counted between a give's look and its own count.
TEST_F(Shift, AGiveDuringWhichAnotherOneEndedLooksForNothing)
{
	for (int i = 0; i < 4 * ICEPATH_LOOKS_THAT_AGREE; i++) {
		const uint64_t begin_ns = ++now;
		queue(20);
		const uint64_t queued_then = queued, taken_then = taken;
		queue(30);
		given += 30; // without a look: the queue was locked
		stream.giver = kOther;
		stream.gave_ns = ++now;
		give_ends(kOne, begin_ns, 20, queued_then, taken_then);
		take_all();
	}
	EXPECT_FALSE(stream.is_shifted);
}

TEST_F(Shift, AWrongOneIsCorrected)
{
	set_shift(&stream, kTrue + 30, now);
	for (int i = 0; i < ICEPATH_LOOKS_THAT_CORRECT; i++) {
		EXPECT_FALSE(is_right());
		give(kOne, 20);
		take_all();
	}
	EXPECT_TRUE(is_right());
}

} // namespace
