// SPDX-License-Identifier: Apache-2.0
// Messages through a library's threads and daemons: by system calls and wakings alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <random>
#include <tuple>

#include "tests/path/capture_by_hand.h"

namespace icepath::path {
namespace {

constexpr uint32_t kClient = 50, kBroker = 60,
				   kServer = 70; // threads of the sender's process, of a daemon, of the receiver's
constexpr uint32_t kOther = 61; // another one of the daemon

class Relayed : public testing::Test {
protected:
	Relayed() : capture(ICEPATH_USES_LIBRARY_CALLS | ICEPATH_USES_LIBRARY_THREADS)
	{
		const auto thread = [&](uint32_t tid, uint32_t process) {
			capture.add(2, ICEPATH_RECORD_THREAD, 20, tid).thread.tgid = process;
		};
		thread(kSender, kSender);
		thread(kClient, kSender);
		thread(kBroker, kBroker);
		thread(kOther, kBroker);
		thread(kServer, kReceiver);
		thread(kReceiver, kReceiver);
	}

	icepath_record &call(uint32_t tid, icepath_call_kind kind, uint64_t begin, uint64_t end, uint64_t object = 0)
	{
		icepath_record &record = capture.add(2, ICEPATH_RECORD_CALL, end, tid);
		record.call.begin_ns = begin;
		record.call.kind = kind;
		record.call.object = object;
		record.call.result = 100;
		return record;
	}
	icepath_record &slept(uint32_t tid, uint64_t out, uint64_t waking, uint64_t in, uint32_t waker)
	{
		icepath_record &record = capture.add(2, ICEPATH_RECORD_OFF_CPU, in, tid);
		record.off.out_ns = out;
		record.off.waking_ns = waking;
		record.off.wakeup_ns = waking + 10;
		record.off.waker_tid = waker;
		record.off.out_cpu = record.cpu;
		return record;
	}
	icepath_record &event(icepath_record_type type, uint64_t at, uint32_t tid, uint64_t socket, uint32_t stream_end = 0)
	{
		icepath_record &record = capture.add(2, type, at, tid);
		record.socket.socket = socket;
		record.socket.has_stream_end = stream_end != 0;
		record.socket.stream_end = stream_end;
		return record;
	}
	// The sender's last hand-over, by a futex, and the way of the receiver out of its sleep.
	void woken_by_futex(uint32_t waker, uint32_t woken, uint64_t at)
	{
		call(waker, ICEPATH_CALL_FUTEX_WAKE, at - 20, at + 30);
		call(woken, ICEPATH_CALL_FUTEX_WAIT, 820, at + 90);
		slept(woken, 830, at, at + 60, waker);
	}

	bool mentions_in_order(const std::vector<std::string> &pieces) const
	{
		const std::string text = capture.text();
		size_t at = 0;
		return std::ranges::all_of(pieces, [&](const std::string &piece) {
			at = text.find(piece, at);
			return at != std::string::npos;
		});
	}

	Capture capture;
};

TEST_F(Relayed, WhoIsWokenByWhoHasItHasIt)
{
	woken_by_futex(kSender, kClient, 1130);
	woken_by_futex(kClient, kReceiver, 1420);
	EXPECT_EQ(
		capture.text(),
		"0:sender.user 110' | 0:sender.kernel 20' | 1:wakeup 10 | 1:runqueue 50 | 1:relay.kernel 30' | 1:relay.user "
		"180' | 1:relay.kernel 20' | 2:wakeup 10 | 2:runqueue 50 | 2:receiver.kernel 30 | 2:receiver.user 190");
}

// From the sender's process over a daemon to the receiver's: UNIX sockets announce on top of who sends.
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

// Nagle: accepted, and sent in a softirq only once the acknowledgement came.
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

// One thread waits for all sockets, and tells another to read: what is announced reaches that by the first.
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
	sleep.off.waker_vector = 1; // TIMER: it woke for something else
	EXPECT_EQ(capture.text().find("relay"), std::string::npos) << capture.text();
}

// UDP: whose packet it was is known by the CPU that queued it, since each keeps its order.
TEST_F(Relayed, ADatagramIsOfTheLastThatItsCpuQueued)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DEVICE_QUEUE, 1110, kSender, 0xa1);
	call(kOther, ICEPATH_CALL_GIVE, 1105, 1160, 0xa9); // to somebody else, by another CPU
	event(ICEPATH_RECORD_DEVICE_QUEUE, 1115, kOther, 0xa9).cpu = 1;
	event(ICEPATH_RECORD_DATA_READY, 1120, 0, 0xb1).context = ICEPATH_CONTEXT_SOFTIRQ;
	call(kReceiver, ICEPATH_CALL_TAKE, 1400, 1430, 0xb1);
	EXPECT_TRUE(mentions_in_order({"0:sender.kernel 10'", "1:network 10'", "1:receiver.kernel 30"})) << capture.text();
}

TEST_F(Relayed, AThreadWithoutANameOfItsOwnIsTheLibrarys)
{
	capture.block.sides[0].name = "sender";
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

TEST_F(Relayed, AThreadMayBeOnTheWayTwice)
{
	const auto goes = [&](uint32_t from, uint32_t to, uint64_t at, uint64_t socket) {
		call(from, ICEPATH_CALL_GIVE, at, at + 20, socket + 0x1000);
		event(ICEPATH_RECORD_DATA_READY, at + 10, from, socket);
		call(to, ICEPATH_CALL_TAKE, at + 30, at + 40, socket);
	};
	goes(kSender, kBroker, 1100, 0xb1);
	goes(kBroker, kServer, 1200, 0xc1); // "here is one"
	goes(kServer, kBroker, 1300, 0xb2); // "give it to me"
	goes(kBroker, kServer, 1400, 0xc1);
	woken_by_futex(kServer, kReceiver, 1500);
	Observations seen = capture.decoded();
	const Path path = walk(seen, seen.deliveries.at(0));
	ASSERT_TRUE(path.complete()) << text_of(path);
	std::vector<uint32_t> threads;
	for (const Segment &segment : path.segments)
		if (threads.empty() || threads.back() != segment.thread)
			threads.push_back(segment.thread);
	EXPECT_EQ(threads, (std::vector<uint32_t>{kSender, kBroker, kServer, kBroker, kServer, kReceiver}));
}

// Nothing tells when one thread of a process passed it to another: within bounds, which are those of what they did.
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
	ASSERT_TRUE(handed->in_memory);
	EXPECT_EQ(handed->in_memory->earliest_ns, 1160u);
	EXPECT_EQ(handed->in_memory->latest_ns, 1300u);
	slept(kBroker, 1180, 1185, 1310, kForeign).off.reason = ICEPATH_OFF_PREEMPTED;
	EXPECT_TRUE(mentions_in_order({"1:relay.user 20~", "2:relay.user 120"})) << capture.text();
}

// What the taker itself told the thread that has the message isn't that message.
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
	call(kReceiver, ICEPATH_CALL_GIVE, 1300, 1310, 0xe1); // there is room
	call(kServer, ICEPATH_CALL_TAKE, 1330, 1340, 0xe1);
	EXPECT_EQ(capture.text().find("3:"), std::string::npos) << capture.text();
	EXPECT_NE(capture.text().find("2:"), std::string::npos) << capture.text();
}

// Nor where it woke that thread out of the very wait in which the message was announced.
TEST_F(Relayed, WhoTakesInMemoryDidNotTellOfTheMessage)
{
	capture.add(2, ICEPATH_RECORD_THREAD, 21, kSender).thread.tgid = kReceiver; // between threads
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DATA_READY, 1120, kSender, 0xb1);
	call(kReceiver, ICEPATH_CALL_GIVE, 1140, 1170, 0xe1);
	call(kServer, ICEPATH_CALL_READINESS, 700, 1220);
	slept(kServer, 710, 1150, 1200, kReceiver);
	call(kServer, ICEPATH_CALL_TAKE, 1230, 1240, 0xb1);
	const std::string way = capture.text();
	EXPECT_TRUE(way.starts_with("0:sender.user 100' | 0:sender.kernel 20' | 1:")) << way;
	EXPECT_NE(way.find("2:"), std::string::npos) << way;
	EXPECT_EQ(way.find("3:"), std::string::npos) << way;
}

TEST_F(Relayed, ThreadsOfDifferentProcessesHaveNoMemoryInCommon)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DATA_READY, 1120, kSender, 0xb1);
	call(kBroker, ICEPATH_CALL_TAKE, 1130, 1160, 0xb1);
	woken_by_futex(kServer, kReceiver, 1420);
	EXPECT_EQ(capture.text(), "left_path");
	capture.cell.mechanisms |= ICEPATH_USES_SHARED_MEMORY; // unless they say so
	EXPECT_TRUE(mentions_in_order({"1:relay.kernel 30", "1:relay.user 240~", "2:relay.kernel 20", "3:wakeup"}))
		<< capture.text();
}

// A reader that makes room wakes its writer: that is no message.
TEST_F(Relayed, WhoTakesHandsNothingOn)
{
	woken_by_futex(kSender, kClient, 1130);
	call(kClient, ICEPATH_CALL_TAKE, 1400, 1450, 0xa2);
	call(kReceiver, ICEPATH_CALL_GIVE, 820, 1510, 0xa3);
	slept(kReceiver, 830, 1420, 1480, kClient);
	EXPECT_EQ(capture.text(), "left_path");
}

// A queue whose mq_timedsend(2) tells this. Nobody slept, so the queue is all that tells of the hand-over.
class Queued : public Relayed {
protected:
	std::string given_with(int64_t result)
	{
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
	woken_by_futex(kSender, kClient, 1130);
	woken_by_futex(kClient, kReceiver, 1420);
	const std::string expected = capture.text();
	EXPECT_TRUE(expected.starts_with("0:sender.user 110")) << expected;
	call(kOther, ICEPATH_CALL_GIVE, 1240, 1250, 0xd1); // by who never had it
	call(kClient, ICEPATH_CALL_TAKE, 1260, 1261, 0xd1);
	EXPECT_EQ(std::count(expected.begin(), expected.end(), '|') + 2, std::ranges::count(capture.text(), '|'))
		<< "nothing but a call more: " << capture.text();
	call(kSender, ICEPATH_CALL_GIVE, 1460, 1470, 0xd2); // after the client has given it on
	call(kClient, ICEPATH_CALL_TAKE, 1480, 1490, 0xd2);
	EXPECT_TRUE(capture.text().starts_with("0:sender.user 110")) << capture.text();
}

// It was told of the message, and its library's function then waits for another thread, which hasn't got it.
TEST_F(Relayed, AFunctionMayWaitForAnotherThreadOfItsLibrary)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DATA_READY, 1120, kSender, 0xb1);
	call(kReceiver, ICEPATH_CALL_TAKE, 1160, 1170, 0xb1);
	call(kReceiver, ICEPATH_CALL_FUTEX_WAIT, 1200, 1450);
	slept(kReceiver, 1210, 1300, 1400, kServer);
	EXPECT_TRUE(mentions_in_order({"1:blocked", " by 70"})) << capture.text();
}

// First it was told of the message, and then it had to wait for who told it to let go of the lock.
TEST_F(Relayed, TheEndOfAWaitForALockIsNotTheMessage)
{
	call(kSender, ICEPATH_CALL_FUTEX_WAKE, 1110, 1160);
	call(kReceiver, ICEPATH_CALL_FUTEX_WAIT, 820, 1220);
	slept(kReceiver, 830, 1130, 1190, kSender);
	call(kClient, ICEPATH_CALL_FUTEX_WAIT, 820, 1220);
	slept(kClient, 830, 1140, 1200, kSender);
	call(kClient, ICEPATH_CALL_FUTEX_WAKE, 1300, 1350);
	call(kReceiver, ICEPATH_CALL_FUTEX_LOCK, 1250, 1400);
	slept(kReceiver, 1260, 1320, 1380, kClient);
	EXPECT_EQ(capture.text(), "0:sender.user 110' | 0:sender.kernel 20' | 1:wakeup 10 | 1:runqueue 50 | "
							  "1:receiver.kernel 30 | 1:receiver.user 30 | 1:receiver.kernel 10 | 1:blocked/lock 70 by "
							  "50 | 1:runqueue 50 | 1:receiver.kernel 20 | 1:receiver.user 300");
}

TEST_F(Relayed, TwoInFlightCannotBeToldApart)
{
	woken_by_futex(kSender, kClient, 1130);
	woken_by_futex(kClient, kReceiver, 1420);
	capture.block.flows[0].sends.push_back({1, 1550, 1550, 1560, 0, 1570, 1, 0, 0});
	capture.block.flows[0].recvs.push_back({1, 1710, 0, 1711, 1800, 0, 1900, 1, 0});
	EXPECT_EQ(capture.text(0), "ambiguous_relay");
	EXPECT_EQ(capture.text(1), "ambiguous_relay");
	capture.block.flows[0].sends[0].flags = capture.block.flows[0].recvs[0].flags = rundir::kStampLeadIn;
	EXPECT_EQ(capture.text(0), "ambiguous_relay") << "the second one, which the lead-in is beside";
}

TEST_F(Relayed, ALostRecordMayHaveBeenAHandOver)
{
	woken_by_futex(kSender, kClient, 1130);
	woken_by_futex(kClient, kReceiver, 1420);
	capture.block.slots[2].position++;
	EXPECT_EQ(capture.text(), "lost_record");
}

// A kernel that runs no program on top of certain tasks tells nothing of what a softirq announced there.
TEST_F(Relayed, AWakingThatWasNotSeenMayHaveBeenAHandOver)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	call(kBroker, ICEPATH_CALL_READINESS, 700, 1220);
	call(kBroker, ICEPATH_CALL_TAKE, 1230, 1240, 0xb1);
	call(kBroker, ICEPATH_CALL_FUTEX_WAKE, 1300, 1350);
	call(kReceiver, ICEPATH_CALL_FUTEX_WAIT, 820, 1440);
	slept(kReceiver, 830, 1335, 1400, kBroker);
	EXPECT_EQ(capture.text(), "left_path");
	slept(kBroker, 710, 0, 1200, 0).off.reason = ICEPATH_OFF_PREEMPTED; // nobody needs to wake it
	EXPECT_EQ(capture.text(), "left_path");
	slept(kOther, 710, 0, 1990, 0); // after the message was received
	EXPECT_EQ(capture.text(), "left_path");
	constexpr uint32_t kAnother = 80;
	capture.add(2, ICEPATH_RECORD_THREAD, 20, kAnother).thread.tgid = kAnother;
	slept(kAnother, 710, 0, 1200, 0);
	EXPECT_EQ(capture.text(), "lost_record");
	capture.block.companions.push_back(
		{kAnother, 1, "nats receiver"}); // of another cell: it can't have been on the way
	EXPECT_EQ(capture.text(), "left_path");
	slept(kServer, 710, 0, 1200, 0);
	EXPECT_EQ(capture.text(), "lost_record");
}

// A forward model: messages go one after the other by random ways over random means, while other threads are woken by those that
// carry them, and write. Whatever way a message took, that is what is found.
TEST_F(Relayed, TheWayThatAMessageTookIsFound)
{
	std::mt19937 random(7);
	const auto pick = [&](uint32_t from, uint32_t to) {
		return std::uniform_int_distribution<uint32_t>(from, to)(random);
	};
	for (int run = 0; run < 300; ++run) {
		SCOPED_TRACE(run);
		capture.block.slots[2] = {};
		capture.block.slots[2].cpu = -1;
		capture.block.flows[0].sends.clear();
		capture.block.flows[0].recvs.clear();
		constexpr uint32_t kThreads = 6, kFirst = 100; // between sender and receiver
		for (uint32_t i = 0; i < kThreads; ++i)
			capture.add(2, ICEPATH_RECORD_THREAD, 20, kFirst + i).thread.tgid = kFirst + i;
		std::vector<std::vector<uint32_t>> ways;
		std::map<uint32_t, uint64_t> free_at; // when each thread's last call was over
		uint64_t now = 1000;
		for (uint64_t message = 0; message < 5; ++message) {
			std::vector<uint32_t> way = {kSender};
			for (uint32_t hops = pick(1, 5); hops > 0; --hops)
				if (const uint32_t next = kFirst + pick(0, kThreads - 1); next != way.back())
					way.push_back(next);
			way.push_back(kReceiver);
			const uint64_t sent = now, ask = std::max<uint64_t>(free_at[kReceiver], 11);
			free_at[kReceiver] = ask;
			for (size_t hop = 0; hop + 1 < way.size(); ++hop) {
				const uint32_t from = way[hop], to = way[hop + 1];
				const uint64_t give = now + pick(1, 9), object = 1000 * to + from;
				const uint64_t awake = give + pick(20, 40);
				switch (pick(0, 2)) {
				case 0: // a futex that it sleeps for
					call(from, ICEPATH_CALL_FUTEX_WAKE, give, give + 9);
					call(to, ICEPATH_CALL_FUTEX_WAIT, free_at[to] + 1, awake + 5);
					slept(to, free_at[to] + 2, give + 5, awake, from).off.wakeup_ns = give + 6;
					now = awake + 5;
					break;
				case 1: // a UNIX socket that it waits for
					call(from, ICEPATH_CALL_GIVE, give, give + 9, object + 1);
					event(ICEPATH_RECORD_DATA_READY, give + 3, from, object);
					call(to, ICEPATH_CALL_READINESS, free_at[to] + 1, awake + 5);
					slept(to, free_at[to] + 2, give + 5, awake, from).off.wakeup_ns = give + 6;
					call(to, ICEPATH_CALL_TAKE, awake + 6, awake + 9, object);
					now = awake + 9;
					break;
				default: // an eventfd that it looks at without having slept
					call(from, ICEPATH_CALL_GIVE, give, give + 9, object + 1'000'000);
					call(to, ICEPATH_CALL_TAKE, awake, awake + 9, object + 1'000'000);
					now = awake + 9;
				}
				free_at[from] = give + 9;
				free_at[to] = now;
				// It also wakes another one, which hands nothing on, and one that never had it writes somewhere.
				const uint32_t idle = 900 + pick(0, 1), busy = 902;
				for (const uint32_t other : {idle, busy})
					if (free_at[other] == 0)
						capture.add(2, ICEPATH_RECORD_THREAD, 20, other).thread.tgid = other;
				call(from, ICEPATH_CALL_FUTEX_WAKE, give + 10, give + 14);
				call(idle, ICEPATH_CALL_FUTEX_WAIT, free_at[idle] + 1, give + 18);
				slept(idle, free_at[idle] + 2, give + 11, give + 16, from).off.wakeup_ns = give + 12;
				call(busy, ICEPATH_CALL_GIVE, give + 1, give + 2, 2'000'000);
				free_at[from] = give + 14;
				free_at[idle] = free_at[busy] = give + 18;
			}
			const uint64_t taken = now + 10;
			capture.block.flows[0].sends.push_back({message, sent, sent, sent + 1, 0, now + 5, 1, 0, 0});
			capture.block.flows[0].recvs.push_back({message, ask, 0, ask, taken, 0, taken + 5, 1, 0});
			free_at[kReceiver] = taken + 6;
			ways.push_back(way);
			now = taken + 100;
		}
		const Observations seen = capture.decoded();
		ASSERT_EQ(seen.deliveries.size(), ways.size());
		for (size_t message = 0; message < ways.size(); ++message) {
			const Path path = walk(seen, seen.deliveries[message]);
			ASSERT_TRUE(path.complete()) << text_of(path);
			std::vector<uint32_t> found;
			uint64_t sum = 0;
			for (const Segment &segment : path.segments) {
				sum += segment.duration_ns();
				if (found.empty() || found.back() != segment.thread)
					found.push_back(segment.thread);
			}
			EXPECT_EQ(found, ways[message]);
			EXPECT_EQ(sum, path.recv_ns - path.send_ns);
		}
	}
}

} // namespace
} // namespace icepath::path
