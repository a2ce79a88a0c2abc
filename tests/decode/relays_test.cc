// SPDX-License-Identifier: Apache-2.0
// Messages through a library's threads and daemons, found by system calls and wakings alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "tests/decode/relayed.h"

namespace icepath::decode {
namespace {

TEST_F(Relayed, WhoIsWokenByWhoHasItHasIt)
{
	between_threads();
	woken_by_futex(kSender, kClient, 1130);
	woken_by_futex(kClient, kReceiver, 1420);
	EXPECT_EQ(
		capture.text(),
		"0:sender.user 110' | 0:sender.kernel 20' | 1:wakeup 10 | 1:runqueue 50 | 1:relay.kernel 30' | 1:relay.user "
		"180' | 1:relay.kernel 20' | 2:wakeup 10 | 2:runqueue 50 | 2:receiver.kernel 30 | 2:receiver.user 190");
}

// From the sender's process through a daemon to the receiver's: UNIX sockets announce on top of the sender.
TEST_F(Relayed, ThroughSocketsOfADaemon)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DATA_READY, 1120, kSender, 0xb1);
	call(kBroker, ICEPATH_CALL_READINESS, 700, 1220);
	slept(kBroker, 710, 1125, 1200, kSender);
	call(kBroker, ICEPATH_CALL_TAKE, 1230, 1240, 0xb1);
	call(kBroker, ICEPATH_CALL_GIVE, 1300, 1350, 0xb2);
	event(ICEPATH_RECORD_DATA_READY, 1330, kBroker, 0xc1);
	call(kReceiver, ICEPATH_CALL_READINESS, 810, 1440);
	slept(kReceiver, 830, 1335, 1400, kBroker);
	call(kReceiver, ICEPATH_CALL_TAKE, 1450, 1470, 0xc1);
	EXPECT_EQ(capture.text(),
			  "0:sender.user 100' | 0:sender.kernel 20' | 1:sender.kernel/notify 5' | 1:wakeup 10 | 1:runqueue 65 | "
			  "1:relay.kernel 20' | 1:relay.user 10' | 1:relay.kernel 10' | 1:relay.user 60' | 1:relay.kernel 30' | "
			  "2:relay.kernel/notify 5' | 2:wakeup 10 | 2:runqueue 55 | 2:receiver.kernel 40 | 2:receiver.user 10 | "
			  "2:receiver.kernel 20 | 2:receiver.user 230");
}

// Nagle: accepted, and sent by a softirq only after the acknowledgement.
TEST_F(Relayed, HeldBackByTcp)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DEVICE_QUEUE, 1300, 0, 0xa1, 777).context = ICEPATH_CONTEXT_SOFTIRQ;
	event(ICEPATH_RECORD_DATA_READY, 1310, 0, 0xb1, 777).context = ICEPATH_CONTEXT_SOFTIRQ;
	call(kReceiver, ICEPATH_CALL_READINESS, 810, 1440);
	icepath_record &sleep = slept(kReceiver, 830, 1315, 1400, 0);
	sleep.context = ICEPATH_CONTEXT_SOFTIRQ;
	sleep.off.waker_vector = 3; // NET_RX
	call(kReceiver, ICEPATH_CALL_TAKE, 1450, 1470, 0xb1);
	EXPECT_EQ(capture.text(), "0:sender.user 100' | 0:sender.kernel 50' | 1:network/held 150' | 1:network 10' | "
							  "1:network/notify 5' | 1:wakeup 10 | 1:runqueue 75 | 1:receiver.kernel 40 | "
							  "1:receiver.user 10 | 1:receiver.kernel 20 | 1:receiver.user 230");
}

// One thread waits for all sockets and makes another one read: the announcement reaches that thread through the first.
TEST_F(Relayed, WhoIsToldByAnotherOfWhatItReads)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DEVICE_QUEUE, 1110, kSender, 0xa1, 777);
	event(ICEPATH_RECORD_DATA_READY, 1120, kSender, 0xb1, 777).context = ICEPATH_CONTEXT_SOFTIRQ;
	call(kServer, ICEPATH_CALL_READINESS, 800, 1220);
	icepath_record &sleep = slept(kServer, 810, 1125, 1200, kSender);
	sleep.context = ICEPATH_CONTEXT_SOFTIRQ;
	sleep.off.waker_vector = 3; // NET_RX
	call(kServer, ICEPATH_CALL_FUTEX_WAKE, 1250, 1290);
	call(kReceiver, ICEPATH_CALL_FUTEX_WAIT, 820, 1350);
	icepath_record &other = slept(kReceiver, 830, 1270, 1330, kServer);
	other.cpu = other.off.out_cpu = 1;
	call(kReceiver, ICEPATH_CALL_TAKE, 1400, 1430, 0xb1);
	EXPECT_EQ(capture.text(),
			  "0:sender.user 100' | 0:sender.kernel 10' | 1:network 10' | 1:network/notify 5' | 1:wakeup 10 | "
			  "1:runqueue 65 | 1:relay.kernel 20' | 1:relay.user 30' | 1:relay.kernel 20' | 2:wakeup 10 | 2:runqueue "
			  "50 | 2:receiver.kernel 20 | 2:receiver.user 50 | 2:receiver.kernel 30 | 2:receiver.user 270");
	sleep.off.waker_vector = 1; // TIMER: woken for something else
	EXPECT_EQ(capture.text().find("relay"), std::string::npos) << capture.text();
}

// UDP: a packet belongs to the last one that its CPU queued, since each CPU keeps its order.
TEST_F(Relayed, ADatagramIsOfTheLastThatItsCpuQueued)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DEVICE_QUEUE, 1110, kSender, 0xa1);
	call(kOther, ICEPATH_CALL_GIVE, 1105, 1160, 0xa9); // to another, by another CPU
	event(ICEPATH_RECORD_DEVICE_QUEUE, 1115, kOther, 0xa9).cpu = 1;
	event(ICEPATH_RECORD_DATA_READY, 1120, 0, 0xb1).context = ICEPATH_CONTEXT_SOFTIRQ;
	call(kReceiver, ICEPATH_CALL_TAKE, 1400, 1430, 0xb1);
	EXPECT_TRUE(mentions_in_order({"0:sender.kernel 10'", "1:network 10'", "1:receiver.kernel 30"})) << capture.text();
}

TEST_F(Relayed, AThreadWithoutANameOfItsOwnIsTheLibrarys)
{
	for (const auto &[tid, comm, process] : {std::tuple{80u, "sender", kSender},
											 {81u, "icepath-worker", kSender},
											 {82u, "ZMQbg/IO/0", kSender},
											 {83u, "sender", kBroker}}) {
		icepath_record &record = capture.add(2, ICEPATH_RECORD_THREAD, 20, tid);
		record.thread.tgid = process;
		std::strncpy(record.thread.comm, comm, sizeof(record.thread.comm) - 1);
	}
	const Observations seen = capture.decoded();
	EXPECT_EQ(seen.threads.at(kSender).name, "sender");
	EXPECT_EQ(seen.threads.at(80).name, "sender's library");
	EXPECT_EQ(seen.threads.at(81).name, "sender's library");
	EXPECT_EQ(seen.threads.at(82).name, "ZMQbg/IO/0");
	EXPECT_EQ(seen.threads.at(83).name, "sender") << "of another process";
}

// What it asks for is smaller than the message, which stays where it is until then. If it may be the message, none is
// found.
TEST_F(Relayed, WhatIsAskedForMeanwhileIsNotTheMessage)
{
	const auto goes = [&](uint32_t from, uint32_t to, uint64_t at, uint64_t socket, uint64_t bytes) {
		call(from, ICEPATH_CALL_GIVE, at, at + 20, socket + 0x1000, bytes);
		event(ICEPATH_RECORD_DATA_READY, at + 10, from, socket);
		call(to, ICEPATH_CALL_TAKE, at + 30, at + 40, socket, bytes);
	};
	const auto threads_with = [&](uint64_t bytes) {
		capture.window().slots[2].records.resize(6);
		capture.window().slots[2].position = 6;
		goes(kSender, kBroker, 1100, 0xb1, 100);
		goes(kBroker, kServer, 1200, 0xc1, bytes); // "here is one"
		goes(kServer, kBroker, 1300, 0xb2, bytes); // "give it to me"
		goes(kBroker, kServer, 1400, 0xc1, 100);
		woken_by_futex(kServer, kReceiver, 1500);
		const Observations seen = capture.decoded();
		const Path path = walk(seen, seen.deliveries.at(0));
		std::vector<uint32_t> threads;
		for (const Segment &segment : path.segments)
			if (threads.empty() || threads.back() != segment.thread)
				threads.push_back(segment.thread);
		return path.complete() ? threads : std::vector<uint32_t>{static_cast<uint32_t>(path.reason)};
	};
	EXPECT_EQ(threads_with(10), (std::vector<uint32_t>{kSender, kBroker, kServer, kReceiver}));
	EXPECT_EQ(threads_with(100), std::vector<uint32_t>{static_cast<uint32_t>(Reason::AmbiguousRelay)});
}

// The hand-over between threads of a process is known by its bounds only, which are those of their actions.
TEST_F(Relayed, InTheMemoryOfAProcess)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DATA_READY, 1120, kSender, 0xb1);
	call(kBroker, ICEPATH_CALL_TAKE, 1130, 1160, 0xb1);
	call(kBroker, ICEPATH_CALL_READINESS, 1240, 5000);
	call(kOther, ICEPATH_CALL_GIVE, 1300, 1340, 0xb2);
	event(ICEPATH_RECORD_DATA_READY, 1320, kOther, 0xc1);
	call(kReceiver, ICEPATH_CALL_TAKE, 1350, 1400, 0xc1);
	EXPECT_EQ(
		capture.text(),
		"0:sender.user 100' | 0:sender.kernel 20' | 1:queue/busy 10' | 1:relay.kernel 30' | 1:relay.user 80~ | "
		"2:relay.user 60' | 2:relay.kernel 20' | 3:receiver.user 30 | 3:receiver.kernel 50 | 3:receiver.user 300");
	const Observations seen = capture.decoded();
	const auto handed = std::ranges::find_if(seen.transfers, [](const Transfer &one) { return one.to == kOther; });
	ASSERT_NE(handed, seen.transfers.end());
	const auto &bounds = std::get<ByLibrary>(handed->by).handed;
	ASSERT_TRUE(bounds);
	EXPECT_EQ(bounds->earliest_ns, 1160u);
	EXPECT_EQ(bounds->latest_ns, 1300u);
	slept(kBroker, 1180, 1185, 1310, kForeign).off.reason = ICEPATH_OFF_PREEMPTED;
	EXPECT_TRUE(mentions_in_order({"1:relay.user 20~", "2:relay.user 120"})) << capture.text();
}

// What the taker itself sent to the holder isn't the message.
TEST_F(Relayed, WhoTakesInMemoryDidNotGive)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DATA_READY, 1120, kSender, 0xb1);
	call(kServer, ICEPATH_CALL_READINESS, 700, 1220);
	slept(kServer, 710, 1125, 1200, kSender);
	call(kServer, ICEPATH_CALL_TAKE, 1230, 1240, 0xb1);
	const std::string expected = capture.text();
	EXPECT_EQ(expected.find("3:"), std::string::npos) << expected;
	EXPECT_NE(expected.find("2:"), std::string::npos) << expected;
	call(kReceiver, ICEPATH_CALL_GIVE, 1300, 1310, 0xe1); // a notice of room
	call(kServer, ICEPATH_CALL_TAKE, 1330, 1340, 0xe1);
	EXPECT_EQ(capture.text().find("3:"), std::string::npos) << capture.text();
	EXPECT_NE(capture.text().find("2:"), std::string::npos) << capture.text();
}

// Nor if it woke the holder from the very wait in which the message was announced.
TEST_F(Relayed, WhoTakesInMemoryDidNotTellOfTheMessage)
{
	capture.add(2, ICEPATH_RECORD_THREAD, 21, kSender).thread.tgid = kReceiver; // between threads
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DATA_READY, 1120, kSender, 0xb1);
	call(kReceiver, ICEPATH_CALL_GIVE, 1140, 1170, 0xe1);
	call(kServer, ICEPATH_CALL_READINESS, 700, 1220);
	slept(kServer, 710, 1150, 1200, kReceiver);
	call(kServer, ICEPATH_CALL_TAKE, 1230, 1240, 0xb1);
	const std::string chain = capture.text();
	EXPECT_TRUE(chain.starts_with("0:sender.user 100' | 0:sender.kernel 20' | 1:")) << chain;
	EXPECT_NE(chain.find("2:"), std::string::npos) << chain;
	EXPECT_EQ(chain.find("3:"), std::string::npos) << chain;
}

TEST_F(Relayed, ThreadsOfDifferentProcessesHaveNoMemoryInCommon)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DATA_READY, 1120, kSender, 0xb1);
	call(kBroker, ICEPATH_CALL_TAKE, 1130, 1160, 0xb1);
	woken_by_futex(kServer, kReceiver, 1420);
	EXPECT_EQ(capture.text(), "left_path");
	// With shared memory, the sender may have handed it to the receiver's waker, whatever else it gave to others.
	capture.cell.mechanisms.add(Mechanism::SharedMemory);
	EXPECT_TRUE(mentions_in_order({"0:sender.user", "~", "1:relay.kernel 20", "2:wakeup"})) << capture.text();
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.transfers.size(), 2u);
	const auto &bounds = std::get<ByLibrary>(seen.transfers[0].by).handed;
	ASSERT_TRUE(bounds);
	EXPECT_EQ(bounds->earliest_ns, 1000u);
	EXPECT_EQ(bounds->latest_ns, 1400u);
}

// A reader that makes room wakes its writer: that hands no message on.
TEST_F(Relayed, WhoTakesHandsNothingOn)
{
	woken_by_futex(kSender, kClient, 1130);
	call(kClient, ICEPATH_CALL_TAKE, 1400, 1450, 0xa2);
	call(kReceiver, ICEPATH_CALL_GIVE, 820, 1510, 0xa3);
	slept(kReceiver, 830, 1420, 1480, kClient);
	EXPECT_EQ(capture.text(), "left_path");
}

// A message queue whose mq_timedsend(2) returns `result`. No thread slept, so only the queue shows the hand-over.
class Queued : public Relayed {
protected:
	std::string given_with(int64_t result)
	{
		thread(kBroker, kReceiver);
		call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xe1).call.result = static_cast<uint64_t>(result);
		call(kBroker, ICEPATH_CALL_TAKE, 1110, 1115, 0xe1).call.result = 0;
		call(kBroker, ICEPATH_CALL_TAKE, 1160, 1180, 0xe1);
		woken_by_futex(kBroker, kReceiver, 1420);
		return capture.text();
	}
};

TEST_F(Queued, WhatTellsNoNumberHasGivenAll)
{
	const std::string text = given_with(0);
	EXPECT_TRUE(text.starts_with("0:sender.user 100' | 0:sender.kernel ")) << text;
	EXPECT_NE(text.find("relay.user"), std::string::npos) << text;
}

TEST_F(Queued, WhatFailedHasGivenNothing) { EXPECT_EQ(given_with(-EAGAIN), "left_path"); }

TEST_F(Relayed, WhatComesFromElsewhereOrTooLateIsNotTheMessage)
{
	between_threads();
	woken_by_futex(kSender, kClient, 1130);
	woken_by_futex(kClient, kReceiver, 1420);
	const std::string expected = capture.text();
	EXPECT_TRUE(expected.starts_with("0:sender.user 110")) << expected;
	call(kOther, ICEPATH_CALL_GIVE, 1240, 1250, 0xd1); // by a thread that never had it
	call(kClient, ICEPATH_CALL_TAKE, 1260, 1261, 0xd1);
	EXPECT_EQ(std::count(expected.begin(), expected.end(), '|') + 2, std::ranges::count(capture.text(), '|'))
		<< "nothing but a call more: " << capture.text();
	call(kSender, ICEPATH_CALL_GIVE, 1460, 1470, 0xd2); // after the client has given it on
	call(kClient, ICEPATH_CALL_TAKE, 1480, 1490, 0xd2);
	EXPECT_TRUE(capture.text().starts_with("0:sender.user 110")) << capture.text();
}

// It was notified of the message, and its library's function then waits for another thread, which doesn't have it.
TEST_F(Relayed, AFunctionMayWaitForAnotherThreadOfItsLibrary)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DATA_READY, 1120, kSender, 0xb1);
	call(kReceiver, ICEPATH_CALL_TAKE, 1160, 1170, 0xb1);
	call(kReceiver, ICEPATH_CALL_FUTEX_WAIT, 1200, 1450);
	slept(kReceiver, 1210, 1300, 1400, kServer);
	EXPECT_TRUE(mentions_in_order({"1:blocked", " by 70"})) << capture.text();
}

// First it was notified of the message, and then it waited for its notifier to release the lock. It then releases the
// lock itself: whatever the operation of its wait, that identifies a lock.
TEST_F(Relayed, TheEndOfAWaitForALockIsNotTheMessage)
{
	constexpr uint64_t kCondition = 0xf1, kOtherCondition = 0xf2, kLock = 0xf3;
	between_threads();
	call(kSender, ICEPATH_CALL_FUTEX_WAKE, 1110, 1160, kCondition);
	call(kReceiver, ICEPATH_CALL_FUTEX_WAIT, 820, 1220, kCondition);
	slept(kReceiver, 830, 1130, 1190, kSender);
	call(kClient, ICEPATH_CALL_FUTEX_WAIT, 820, 1220, kOtherCondition);
	slept(kClient, 830, 1140, 1200, kSender);
	call(kClient, ICEPATH_CALL_FUTEX_WAKE, 1300, 1350, kLock);
	const size_t waits = capture.window().slots[2].records.size();
	call(kReceiver, ICEPATH_CALL_FUTEX_LOCK, 1250, 1400, kLock);
	slept(kReceiver, 1260, 1320, 1380, kClient);
	EXPECT_NE(capture.text().find("~"), std::string::npos) << "nobody let go: " << capture.text();
	call(kReceiver, ICEPATH_CALL_FUTEX_WAKE, 1410, 1420, kLock);
	for (const icepath_call_kind told : {ICEPATH_CALL_FUTEX_LOCK, ICEPATH_CALL_FUTEX_WAIT}) {
		capture.window().slots[2].records[waits].call.kind = told;
		EXPECT_EQ(capture.text(), "0:sender.user 110' | 0:sender.kernel 20' | 1:wakeup 10 | 1:runqueue 50 | "
								  "1:receiver.kernel 30 | 1:receiver.user 30 | 1:receiver.kernel 10 | 1:blocked/lock "
								  "70 by 50 | 1:runqueue 50 | 1:receiver.kernel 20 | 1:receiver.user 10 | "
								  "1:receiver.kernel 10 | 1:receiver.user 280");
	}
}

// The program first meets it at its waking and takes that for the begin: it hadn't run before.
TEST_F(Relayed, AThreadThatWasMetAsItWasWokenHadSleptAllAlong)
{
	slept(kClient, 1130, 1130, 1190, kSender);
	slept(kClient, 1230, 1230, 1290, kSender);
	slept(kServer, 1120, 1130, 1190, kSender);
	const Observations seen = capture.decoded();
	EXPECT_EQ(seen.threads.at(kClient).off[0].out_ns, 0u);
	EXPECT_EQ(seen.threads.at(kClient).off[1].out_ns, 1230u);
	EXPECT_EQ(seen.threads.at(kServer).off[0].out_ns, 1120u);
}

TEST_F(Relayed, TwoInFlightCannotBeToldApart)
{
	between_threads();
	woken_by_futex(kSender, kClient, 1130);
	woken_by_futex(kClient, kReceiver, 1420);
	capture.block.flows[0].sends.push_back({1, 1550, 1550, 1560, 0, 1570, 1, 0, 0});
	capture.block.flows[0].recvs.push_back({1, 1710, 0, 1711, 1800, 0, 1900, 1, 0});
	EXPECT_EQ(capture.text(0), "ambiguous_relay");
	EXPECT_EQ(capture.text(1), "ambiguous_relay");
	capture.block.flows[0].sends[0].flags = capture.block.flows[0].recvs[0].flags = model::kStampWarmUp;
	EXPECT_EQ(capture.text(0), "ambiguous_relay") << "the second one, which the warm-up is beside";
}

TEST_F(Relayed, ALostRecordMayHaveBeenAHandOver)
{
	between_threads();
	woken_by_futex(kSender, kClient, 1130);
	woken_by_futex(kClient, kReceiver, 1420);
	capture.window().slots[2].position++;
	EXPECT_EQ(capture.text(), "lost_record");
}

// A kernel that runs no program on top of certain tasks doesn't show what a softirq announced there.
TEST_F(Relayed, AWakingThatWasNotSeenMayHaveBeenAHandOver)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	call(kBroker, ICEPATH_CALL_READINESS, 700, 1220);
	call(kBroker, ICEPATH_CALL_TAKE, 1230, 1240, 0xb1);
	call(kBroker, ICEPATH_CALL_FUTEX_WAKE, 1300, 1350);
	call(kReceiver, ICEPATH_CALL_FUTEX_WAIT, 820, 1440);
	slept(kReceiver, 830, 1335, 1400, kBroker);
	EXPECT_EQ(capture.text(), "left_path");
	slept(kBroker, 710, 0, 1200, 0).off.reason = ICEPATH_OFF_PREEMPTED; // needs no waking
	EXPECT_EQ(capture.text(), "left_path");
	slept(kOther, 710, 0, 1990, 0); // after the message was received
	EXPECT_EQ(capture.text(), "left_path");
	constexpr uint32_t kAnother = 80;
	capture.add(2, ICEPATH_RECORD_THREAD, 20, kAnother).thread.tgid = kAnother;
	slept(kAnother, 710, 0, 1200, 0);
	EXPECT_EQ(capture.text(), "lost_record");
	capture.window().threads.push_back(
		{kAnother, 1, "nats receiver"}); // of another cell: it can't have been on the path
	EXPECT_EQ(capture.text(), "left_path");
	slept(kServer, 710, 0, 1200, 0);
	EXPECT_EQ(capture.text(), "lost_record");
}

} // namespace
} // namespace icepath::decode
