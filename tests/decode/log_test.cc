// SPDX-License-Identifier: Apache-2.0
// Gaps in the log and impossible records: each loss has a known window.
#include "profiler/decode/log.h"
#include "profiler/path/observations.h"
#include "tests/decode/capture_by_hand.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace icepath::decode {
namespace {

// A window spans the four records on each side of the gap.
TEST(Decode, AGapBecomesAWindow)
{
	Capture capture(kUnixSocket, 40);
	for (unsigned i = 0; i < 40; ++i)
		capture.ready(Capture::start(i) + 150);
	capture.window().slots[0].records.erase(capture.window().slots[0].records.begin() + 20);
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.lost.size(), 1u);
	EXPECT_EQ(seen.lost[0].begin_ns, Capture::start(16) + 150);
	EXPECT_EQ(seen.lost[0].end_ns, Capture::start(24) + 150);
	EXPECT_EQ(seen.lost[0].count, 1u);
	EXPECT_NE(capture.text(15), "lost_record");
	EXPECT_EQ(capture.text(16), "lost_record");
	EXPECT_EQ(capture.text(24), "lost_record");
	EXPECT_NE(capture.text(25), "lost_record");
}

// The slot that CPUs share: the more CPUs write there, the further a record's time may be from its number's place.
TEST(Decode, AWindowOfASharedSlotSpansMoreForEachCpu)
{
	for (const unsigned cpus : {1u, 3u}) {
		Capture capture(kUnixSocket);
		for (unsigned i = 0; i < 200; ++i) {
			icepath_record &record = capture.add(2, ICEPATH_RECORD_FOREIGN_RUN, 1000 + 10 * i, kForeign);
			record.run.in_ns = record.end_ns - 5;
			record.cpu = static_cast<uint16_t>(2 + i % cpus);
		}
		capture.window().slots[2].records.erase(capture.window().slots[2].records.begin() + 100);
		const Observations seen = capture.decoded();
		ASSERT_EQ(seen.lost.size(), 1u);
		EXPECT_EQ(seen.lost[0].begin_ns, 1000 + 10 * (100 - 16 * cpus));
		EXPECT_EQ(seen.lost[0].end_ns, 1000 + 10 * (100 + 16 * cpus));
	}
}

TEST(Decode, AFullLogLosesTheRestOfTheBlock)
{
	Capture capture(kUnixSocket, 40);
	for (unsigned i = 0; i < 40; ++i)
		capture.ready(Capture::start(i) + 150);
	capture.window().slots[0].records.resize(30);
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.lost.size(), 1u);
	EXPECT_EQ(seen.lost[0].begin_ns, Capture::start(26) + 150);
	EXPECT_EQ(seen.lost[0].end_ns, UINT64_MAX);
	EXPECT_EQ(seen.lost[0].count, 10u);
}

TEST(Decode, WithoutEnoughNeighboursTheWindowIsOpen)
{
	Capture capture(kUnixSocket, 40);
	for (unsigned i = 0; i < 40; ++i)
		capture.ready(Capture::start(i) + 150);
	capture.window().slots[0].records.erase(capture.window().slots[0].records.begin() + 2);
	EXPECT_EQ(capture.decoded().lost.at(0).begin_ns, 0u);
	capture.window().slots[0].records.clear();
	EXPECT_EQ(capture.decoded().lost.at(0).begin_ns, 0u);
	EXPECT_EQ(capture.decoded().lost.at(0).end_ns, UINT64_MAX);
}

TEST(Decode, RecordsThatCantBeReadAreAReasonOfTheirOwn)
{
	for (auto spoil : std::initializer_list<void (*)(icepath_record &)>{
			 [](icepath_record &record) { record.type = 77; }, [](icepath_record &record) { record.type = 0; },
			 [](icepath_record &record) { record.version = 2; }, [](icepath_record &record) { record.bytes = 32; },
			 [](icepath_record &record) { record.tid = 4711; },
			 [](icepath_record &record) { record.off.out_ns = record.end_ns; }}) {
		Capture capture(kUnixSocket);
		capture.ready(1150);
		spoil(capture.slept(850, 1160, 1200, 1250));
		EXPECT_EQ(capture.text(), "unreadable_record");
		EXPECT_EQ(unreadable_records(capture.decoded()), 1u);
	}
}

TEST(Decode, ARecordThatWasNeverFinishedIsLost)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	capture.slept(850, 1160, 1200, 1250) = {};
	EXPECT_EQ(capture.text(), "lost_record");
	EXPECT_EQ(unreadable_records(capture.decoded()), 0u);
}

// It isn't known which of the two had the path, so the gap counts as lost, not as unreadable.
TEST(Decode, AGapWithARecordThatCantBeReadIsLost)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	capture.slept(850, 1160, 1200, 1250);
	capture.slept(1260, 1262, 1264, 1270).type = 77;
	auto &records = capture.window().slots[1].records;
	records.erase(records.begin());
	EXPECT_EQ(capture.text(), "lost_record");
}

TEST(Decode, TwoRecordsOfOneNumberCountAsLost)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	capture.slept(850, 1160, 1200, 1250);
	capture.window().slots[1].records.push_back(capture.window().slots[1].records.back());
	EXPECT_EQ(capture.text(), "lost_record");
}

TEST(Decode, PeriodsThatOverlapCountAsLost)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	capture.slept(850, 1160, 1200, 1250);
	capture.slept(1240, 1260, 1270, 1280);
	EXPECT_EQ(capture.text(), "lost_record");
}

TEST(Decode, WhatTheKernelSkippedSpoilsTheBlock)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	capture.slept(850, 1160, 1200, 1250);
	capture.window().skipped = {{.count = 1}};
	EXPECT_EQ(capture.text(), "lost_record");
}

TEST(Decode, WhatTheKernelSkippedSpoilsItsTime)
{
	Capture capture(kUnixSocket, 3);
	capture.ready(1150);
	capture.ready(2150);
	capture.ready(3150);
	std::array<std::string, 3> whole;
	for (unsigned i = 0; i < 3; i++)
		whole[i] = capture.text(i);
	EXPECT_NE(whole[1].find("receiver.user"), std::string::npos) << whole[1];
	capture.window().skipped = {{2100, 2300, 1}};
	EXPECT_EQ(capture.text(0), whole[0]);
	EXPECT_EQ(capture.text(1), "lost_record");
	EXPECT_EQ(capture.text(2), whole[2]);
}

// Its waking was seen before it slept and its wakeup was skipped, so neither is known of what woke it next.
TEST(Decode, AWakeThatWasSkippedInPartSpoilsTheNextPeriod)
{
	for (const bool is_skipped : {false, true}) {
		Capture capture(kUnixSocket, 2);
		capture.ready(1150);
		capture.ready(2150);
		capture.slept(1850, 1750, 2200, 2250);
		capture.window().skipped = {{1740, is_skipped ? 1760u : 1745u, 1}};
		EXPECT_EQ(capture.text(1) == "lost_record", is_skipped) << capture.text(1);
	}
}

TEST(Decode, UnseenSwitchesAreAWindow)
{
	Capture capture(kUnixSocket, 2);
	capture.ready(1150);
	capture.ready(2150);
	capture.add(1, ICEPATH_RECORD_UNSEEN, 2300, kReceiver).off.out_ns = 2100;
	EXPECT_NE(capture.text(0), "lost_record");
	EXPECT_EQ(capture.text(1), "lost_record");
}

TEST(Decode, AWorkerThatStampedWhileItWasOffWasSwitchedInUnseen)
{
	Capture capture(kUnixSocket, 2);
	capture.ready(1150);
	capture.ready(2150);
	capture.add(1, ICEPATH_RECORD_STILL_OFF, 9000, kReceiver).off.out_ns = 2100;
	EXPECT_NE(capture.text(1), "lost_record");
	capture.block.sides[1].marker_end_ns = 8000;
	EXPECT_NE(capture.text(0), "lost_record");
	EXPECT_EQ(capture.text(1), "lost_record");
}

} // namespace
} // namespace icepath::decode
