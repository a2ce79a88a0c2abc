// SPDX-License-Identifier: Apache-2.0
// Finds a message's way among several by the bytes that calls moved: none appear or vanish.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/decode/relayed.h"

namespace icepath::decode {
namespace {

// The broker takes by 0xb1, the receiver by 0xc1; payloads have 100 bytes.
class ByBytes : public Relayed {
protected:
	void gives(uint32_t tid, uint64_t at, uint64_t bytes, uint64_t to)
	{
		call(tid, ICEPATH_CALL_GIVE, at, at + 20, to + 0x1000, bytes);
		event(ICEPATH_RECORD_DATA_READY, at + 10, tid, to);
	}
	void takes(uint32_t tid, uint64_t at, uint64_t bytes, uint64_t socket)
	{
		call(tid, ICEPATH_CALL_TAKE, at, at + 5, socket, bytes);
	}
	void broker_gives_on(uint64_t at)
	{
		gives(kBroker, at, 100, 0xc1);
		takes(kReceiver, at + 30, 100, 0xc1);
	}
};

// Another thread of the sender's process, woken by the sender, sends a heartbeat. The broker reads that before it goes
// on.
TEST_F(ByBytes, AHeartbeatIsNotTheMessage)
{
	gives(kSender, 1100, 100, 0xb1);
	takes(kBroker, 1130, 100, 0xb1);
	const std::string chain = (broker_gives_on(1300), capture.text());
	woken_by_futex(kSender, kClient, 1050);
	gives(kClient, 1200, 1, 0xb2);
	takes(kBroker, 1240, 1, 0xb2);
	EXPECT_EQ(threads(), by_broker) << capture.text();
	EXPECT_NE(chain.find("relay.user"), std::string::npos) << chain;
	EXPECT_TRUE(mentions_in_order({"0:sender.kernel 10'", "1:queue/busy 20'", "1:relay.kernel 5'"})) << capture.text();
}

// The broker holds a message until its giver has confirmed it on the connection that it came by.
TEST_F(ByBytes, WhatConfirmsItIsNotTheMessage)
{
	gives(kSender, 1100, 100, 0xb1);
	takes(kBroker, 1130, 100, 0xb1);
	gives(kBroker, 1140, 4, 0xa1);
	takes(kSender, 1180, 4, 0xa1);
	gives(kSender, 1200, 4, 0xb1);
	takes(kBroker, 1240, 4, 0xb1);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
	EXPECT_NE(capture.text().find("0:sender.user 100' | 0:sender.kernel 10'"), std::string::npos) << capture.text();
}

TEST_F(ByBytes, TwoWaysCannotBeToldApart)
{
	gives(kSender, 1100, 100, 0xb1);
	takes(kBroker, 1130, 100, 0xb1);
	woken_by_futex(kSender, kClient, 1050);
	gives(kClient, 1200, 100, 0xb2); // as large as a message
	takes(kBroker, 1240, 100, 0xb2);
	broker_gives_on(1300);
	EXPECT_EQ(capture.text(), "ambiguous_relay");
}

TEST_F(ByBytes, AMessageMayGoInSeveralCalls)
{
	gives(kSender, 1040, 20, 0xb1); // a header
	gives(kSender, 1070, 50, 0xb1);
	gives(kSender, 1100, 50, 0xb1);
	takes(kBroker, 1130, 60, 0xb1);
	takes(kBroker, 1140, 60, 0xb1);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker);
	EXPECT_TRUE(mentions_in_order({"0:sender.kernel 10'", "1:queue/busy", "1:relay.kernel 5"})) << capture.text();
	capture.window().slots[2].records.back().call.result = 99; // one byte less than it should take
	EXPECT_EQ(capture.text(), "left_path");
}

// What came last, in the same go, may or may not belong to the message: "ready" is known by its bounds.
TEST_F(ByBytes, WhatFollowsInOneGoMayBeOfIt)
{
	gives(kSender, 1040, 110, 0xb1);
	gives(kSender, 1100, 2, 0xb1);
	takes(kBroker, 1130, 112, 0xb1);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker);
	const Observations seen = capture.decoded();
	const Path path = walk(seen, seen.deliveries.at(0));
	const auto inferred =
		std::ranges::find_if(path.segments, [](const Segment &one) { return is_inferred(one.end.provenance); });
	ASSERT_NE(inferred, path.segments.end());
	EXPECT_EQ(inferred->end.earliest_ns, 1050u);
	EXPECT_EQ(inferred->end.latest_ns, 1110u);
}

// The same if the taker needed another call for it: "taken" is known by its bounds, too.
TEST_F(ByBytes, WhatFollowsMayBeTakenByAnotherCall)
{
	gives(kSender, 1040, 110, 0xb1);
	gives(kSender, 1100, 2, 0xb1);
	takes(kBroker, 1070, 110, 0xb1);
	takes(kBroker, 1130, 2, 0xb1);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker);
	const Observations seen = capture.decoded();
	const Path path = walk(seen, seen.deliveries.at(0));
	EXPECT_TRUE(std::ranges::any_of(path.segments, [](const Segment &one) {
		return is_inferred(one.end.provenance) && one.end.earliest_ns == 1075 && one.end.latest_ns == 1135;
	})) << capture.text();
}

// Several threads of a process take parts of it. A request of one thread, during which another took its part, isn't the
// last one's request.
TEST_F(ByBytes, PartsMayBeTakenBySeveralThreads)
{
	gives(kSender, 1100, 100, 0xb1);
	takes(kOther, 1130, 40, 0xb1);
	call(kBroker, ICEPATH_CALL_FUTEX_WAIT, 800, 1190);
	slept(kBroker, 810, 1150, 1180, kOther);
	call(kOther, ICEPATH_CALL_FUTEX_WAKE, 1140, 1160);
	takes(kBroker, 1200, 60, 0xb1);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
}

// It goes on from the thread that gave the last part, which had it from the sender by then.
TEST_F(ByBytes, PartsMayBeGivenBySeveralThreads)
{
	gives(kSender, 1100, 40, 0xb1);
	gives(kClient, 1150, 60, 0xb1);
	takes(kBroker, 1180, 100, 0xb1);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), (std::vector<uint32_t>{kSender, kClient, kBroker, kReceiver})) << capture.text();
}

// After the whole payload has gone, what another thread gives isn't part of the message.
TEST_F(ByBytes, WhatAnotherThreadGivesAfterwardsIsNotTheMessage)
{
	gives(kSender, 1100, 100, 0xb1);
	gives(kClient, 1150, 4, 0xb1);
	takes(kBroker, 1130, 100, 0xb1);
	takes(kBroker, 1180, 4, 0xb1);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
	EXPECT_TRUE(mentions_in_order({"0:sender.kernel 10'", "1:queue/busy", "1:relay.kernel 5'"})) << capture.text();
}

// A taker that is woken before it has left its CPU had found nothing before. What woke it is still there when it
// leaves.
TEST_F(ByBytes, WhoIsWokenAsItGoesToSleepHadFoundNothingBefore)
{
	gives(kSender, 1100, 100, 0xb1);
	call(kBroker, ICEPATH_CALL_TAKE, 1040, 1170, 0xb1);
	icepath_record &sleep = slept(kBroker, 1140, 1115, 1160, kSender);
	sleep.off.wakeup_ns = 1145;
	sleep.cpu = sleep.off.out_cpu = 1;
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
}

// Two threads give at the same time. Once all of that is taken, later givings are known again.
TEST_F(ByBytes, WhatIsTakenUpIsForgotten)
{
	gives(kClient, 500, 10, 0xb1);
	gives(kSender, 510, 10, 0xb1);
	takes(kBroker, 600, 20, 0xb1);
	gives(kSender, 1100, 100, 0xb1);
	takes(kBroker, 1130, 100, 0xb1);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
	for (icepath_record &record : capture.window().slots[2].records)
		if (record.type == ICEPATH_RECORD_CALL && record.end_ns == 605)
			record.call.result = 19; // a byte of it is left
	EXPECT_EQ(capture.text(), "ambiguous_relay");
}

// What a socket held before the block is taken first: more comes out than goes in.
TEST_F(ByBytes, WhatWasThereBeforeIsTakenFirst)
{
	gives(kSender, 1100, 100, 0xb1);
	takes(kBroker, 1125, 30, 0xb1);
	takes(kBroker, 1135, 70, 0xb1);
	takes(kBroker, 1145, 30, 0xb1);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker);
	const Observations seen = capture.decoded();
	ASSERT_TRUE(seen.transfers.at(0).take_return);
	EXPECT_EQ(seen.transfers[0].take_return->at_ns, 1150u);
}

// An eventfd adds up: one read takes what several calls wrote.
TEST_F(ByBytes, OneReadTakesAllThatWasAdded)
{
	between_threads();
	call(kClient, ICEPATH_CALL_GIVE, 1050, 1060, 0xe1, 8);
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1120, 0xe1, 8);
	call(kReceiver, ICEPATH_CALL_TAKE, 1130, 1140, 0xe1, 8);
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.transfers.size(), 1u);
	EXPECT_FALSE(std::get<ByLibrary>(seen.transfers[0].by).handed);
	EXPECT_EQ(seen.transfers[0].call->at_ns, 1100u);
}

TEST_F(ByBytes, BytesComeOutInTheirOrder)
{
	gives(kClient, 900, 30, 0xb1);
	gives(kClient, 1050, 30, 0xb1);
	gives(kSender, 1100, 100, 0xb1);
	takes(kBroker, 1130, 45, 0xb1);
	takes(kBroker, 1140, 115, 0xb1);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker);
	EXPECT_TRUE(mentions_in_order({"1:relay.kernel 5", "1:relay.user"})) << capture.text();
}

// A daemon that was reading as the block began took something unseen. It then found nothing more, so what comes next is
// new.
TEST_F(ByBytes, AnEmptySocketForgetsWhatWasMissed)
{
	gives(kSender, 500, 100, 0xb1);
	gives(kSender, 1100, 100, 0xb1);
	takes(kBroker, 1130, 100, 0xb1);
	broker_gives_on(1300);
	EXPECT_EQ(capture.text(), "left_path") << "the first one's";
	call(kBroker, ICEPATH_CALL_TAKE, 600, 610, 0xb1).call.result = static_cast<uint64_t>(-EAGAIN);
	EXPECT_EQ(threads(), by_broker);
}

// With shared memory a hand-over needs no bytes: a waking may carry the message, and this is the only one.
TEST_F(ByBytes, WakingsCarryItInSharedMemory)
{
	capture.cell.mechanisms.add(Mechanism::SharedMemory);
	woken_by_futex(kSender, kServer, 1130);
	woken_by_futex(kServer, kReceiver, 1420);
	EXPECT_EQ(threads(), (std::vector<uint32_t>{kSender, kServer, kReceiver}));
	EXPECT_EQ(capture.text().find("~"), std::string::npos) << capture.text();
	woken_by_futex(kSender, kBroker, 1190); // this may carry it, too
	call(kReceiver, ICEPATH_CALL_FUTEX_WAIT, 1520, 1590);
	slept(kReceiver, 1525, 1540, 1580, kBroker);
	call(kBroker, ICEPATH_CALL_FUTEX_WAKE, 1530, 1560);
	EXPECT_EQ(capture.text(), "ambiguous_relay");
}

// Two threads of a process may have handed it to a third: bounded by the first and last of their hand-overs.
TEST_F(ByBytes, SeveralWaysWithinAProcessAreBounds)
{
	between_threads();
	woken_by_futex(kSender, kClient, 1130);
	call(kSender, ICEPATH_CALL_FUTEX_WAKE, 1180, 1230);
	call(kReceiver, ICEPATH_CALL_FUTEX_WAIT, 820, 1290);
	slept(kReceiver, 830, 1200, 1260, kSender);
	call(kClient, ICEPATH_CALL_FUTEX_WAKE, 1400, 1450);
	call(kReceiver, ICEPATH_CALL_FUTEX_WAIT, 1300, 1510);
	slept(kReceiver, 1310, 1420, 1480, kClient);
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.transfers.size(), 1u);
	const auto &bounds = std::get<ByLibrary>(seen.transfers[0].by).handed;
	ASSERT_TRUE(bounds);
	EXPECT_EQ(bounds->earliest_ns, 1110u);
	EXPECT_EQ(bounds->latest_ns, 1510u);
	EXPECT_EQ(threads(), (std::vector<uint32_t>{kSender, kReceiver}));
}

} // namespace
} // namespace icepath::decode
