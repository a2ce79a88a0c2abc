// SPDX-License-Identifier: Apache-2.0
// The decoder: matches each stamped message with the events that show when it was ready and taken.
#include "profiler/model/stamps.h"
#include "tests/decode/capture_by_hand.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace icepath::decode {
namespace {

TEST(Decode, UnixSocket)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	icepath_record &off = capture.slept(850, 1160, 1200, 1250);
	off.off.ipi_after_ns = 20;
	off.off.idle_after_ns = 60;
	EXPECT_EQ(capture.text(),
			  "0:sender.user 100 | 0:sender.kernel 50 | 1:sender.kernel/notify 10' | 1:wakeup/ipi 20 | 1:wakeup 20 | "
			  "1:runqueue/idle_exit 20 by idle | 1:runqueue 30 | 1:receiver.kernel 350 | 1:receiver.user 100");
}

TEST(Decode, TheLastPartInTheCallDecides)
{
	Capture capture(kUnixSocket);
	capture.ready(1120);
	capture.ready(1150);
	capture.ready(1170, kForeign); // another sender on that socket
	capture.ready(1250); // after the call
	EXPECT_EQ(capture.decoded().transfers.at(0).ready->at_ns, 1150u);
}

// A kernel thread sends for the sender, which sleeps in its call until the message is sent (io_uring's SQPOLL).
TEST(Decode, AKernelThreadAnnouncesWhatTheSenderGaveIt)
{
	Capture capture(kUnixSocket);
	capture.ready(1150, kForeign);
	icepath_record &sleep = capture.add(0, ICEPATH_RECORD_OFF_CPU, 1190, kSender);
	sleep.off.out_ns = 1120;
	sleep.off.waking_ns = 1170;
	sleep.off.wakeup_ns = 1175;
	sleep.off.waker_tid = kForeign;
	capture.slept(850, 1160, 1200, 1250, kForeign);
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 0:sender.kernel 20 | 0:relay.kernel 30 by 99' | "
							  "1:sender.kernel/notify 10' | 1:wakeup 40 | 1:runqueue 50 | 1:receiver.kernel 350 | "
							  "1:receiver.user 100");
	capture.ready(1155, kForeign + 1); // it isn't known which of the two it was
	EXPECT_FALSE(capture.decoded().transfers.at(0).ready);
}

// A polling sender hands it over in memory and spins in user mode until it is sent, or makes a call that wakes the
// thread.
TEST(Decode, AKernelThreadHasWhatASenderThatPollsGaveIt)
{
	Capture capture(kUnixSocket);
	capture.cell.wait = model::Wait::Poll;
	model::SendStamp &sent = capture.block.flows[0].sends[0];
	sent.return_ns = 1130;
	capture.ready(1150, kForeign);
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 0:sender.kernel 30~ | 1:network 20' | 1:receiver.kernel 450 | "
							  "1:receiver.user 100");
	sent.call_ns = 0;
	EXPECT_EQ(capture.text(), "0:sender.user 150' | 1:receiver.kernel 450 | 1:receiver.user 100");
	capture.window().slots[0].records.back().end_ns = 1650; // announced after a polling receiver had it
	EXPECT_EQ(capture.text(), "0:sender.user 600~ | 1:receiver.user 100");
	capture.window().slots[0].records.back().socket.socket++; // not announced
	EXPECT_EQ(capture.text(), "0:sender.user 600~ | 1:receiver.user 100");
	capture.window().slots[0].records.back().socket.socket--;
	capture.window().slots[0].records.back().end_ns = 1580; // or between dequeueing and the return of the taking call
	capture.add(1, ICEPATH_RECORD_TAKEN, 1550, kReceiver).socket.socket = kReceiverKey;
	EXPECT_EQ(capture.text(), "0:sender.user 550~ | 1:receiver.kernel 50 | 1:receiver.user 100");
	capture.window().slots[0].records.back().end_ns = 1150;
	capture.ready(1155, kForeign + 1);
	EXPECT_EQ(capture.text(), "no_evidence");
}

TEST(Decode, AKernelThreadsWakingTellsWhereNothingIsAnnounced)
{
	Capture capture(kUnixSocket);
	icepath_record &sleep = capture.add(0, ICEPATH_RECORD_OFF_CPU, 1190, kSender);
	sleep.off.out_ns = 1120;
	sleep.off.waking_ns = 1170;
	sleep.off.wakeup_ns = 1175;
	sleep.off.waker_tid = kForeign;
	capture.slept(850, 1160, 1200, 1250, kForeign);
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 0:sender.kernel 20 | 0:relay.kernel 40 by 99' | 1:wakeup 40 | "
							  "1:runqueue 50 | 1:receiver.kernel 350 | 1:receiver.user 100");
}

TEST(Decode, ALibrarysSystemCallsAreInTheLog)
{
	Capture capture({Mechanism::LibraryCalls});
	capture.cell.wait = model::Wait::Spin;
	capture.block.flows[0].recvs[0].take_call_ns = 1550;
	EXPECT_EQ(capture.text(), "0:sender.user 200~ | 1:propagation 350 | 1:receiver.user 150");
	const auto call = [&](unsigned slot, uint32_t tid, uint64_t begin, uint64_t end) {
		capture.add(slot, ICEPATH_RECORD_CALL, end, tid).call.begin_ns = begin;
	};
	call(0, kSender, 1120, 1160);
	call(0, kSender, 1300, 1310); // not on its way
	call(1, kReceiver, 1560, 1570);
	const std::string expected = "0:sender.user 120 | 0:sender.kernel 40 | 0:sender.user 40~ | 1:propagation 350 | "
								 "1:receiver.user 10 | 1:receiver.kernel 10 | 1:receiver.user 130";
	EXPECT_EQ(capture.text(), expected);
	call(1, kForeign, 1580, 1590);
	EXPECT_EQ(capture.text(), "unreadable_record") << "nobody's: it isn't what it says";
}

TEST(Decode, WhereStampsTellOfCallsTheLogsArentLookedAt)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	capture.slept(850, 1160, 1200, 1250);
	const std::string expected = capture.text();
	EXPECT_TRUE(expected.starts_with("0:sender.user 100 | 0:sender.kernel 50")) << expected;
	capture.add(0, ICEPATH_RECORD_CALL, 1195, kSender).call.begin_ns = 1105;
	icepath_record &call = capture.add(1, ICEPATH_RECORD_CALL, 1590, kReceiver);
	call.call.begin_ns = 810;
	call.call.number = 45;
	EXPECT_EQ(capture.text(), expected);
	const auto calls = capture.decoded().system_calls; // but they are counted
	ASSERT_EQ(calls.size(), 2u);
	EXPECT_EQ(std::tuple(calls[1].tid, calls[1].number, calls[1].begin_ns, calls[1].end_ns),
			  std::tuple(kReceiver, 45u, 810u, 1590u));
}

TEST(Decode, TheCalibrationIsOfMessagesInOneCall)
{
	Capture capture(model::Mechanisms{});
	capture.cell.calibrated = {0.25, 0.75};
	EXPECT_EQ(capture.decoded().transfers.at(0).shares, (model::CallShares{0.25, 0.75}));
	capture.cell.parts = 2;
	EXPECT_FALSE(capture.decoded().transfers.at(0).shares);
}

TEST(Decode, AnUnprobedBlockHasNoRecords)
{
	Capture capture(model::Mechanisms{});
	capture.window().slots.clear();
	EXPECT_TRUE(capture.decoded().lost.empty());
}

TEST(Decode, RecordsInAnyOrder)
{
	Capture capture(kUnixSocket, 40);
	for (unsigned i = 0; i < 40; ++i) {
		const uint64_t t = Capture::start(i);
		capture.ready(t + 150);
		capture.slept(t - 150, t + 160, t + 200, t + 250);
	}
	const std::string expected = capture.text(20);
	EXPECT_TRUE(expected.starts_with("0:sender.user 100")) << expected;
	std::mt19937 random(1);
	for (auto &slot : capture.window().slots)
		std::ranges::shuffle(slot.records, random);
	for (unsigned i = 0; i < 40; ++i)
		EXPECT_EQ(capture.text(i), expected);
}

TEST(Decode, SlotStamps)
{
	Capture capture({Mechanism::UserSlot});
	capture.cell.wait = model::Wait::Poll;
	capture.block.flows[0].sends[0] = {0, 1000, 1000, 0, 1100, 0, 1, 0, 0};
	capture.block.flows[0].recvs[0] = {0, 500, 0, 0, 0, 1150, 1200, 9, 0};
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 1:propagation 50 | 1:receiver.user 50");
}

TEST(Decode, WhoTriesAgainDoesNotSleep)
{
	Capture capture(kUnixSocket);
	for (const auto &[wait, polls] : {std::pair(model::Wait::Block, false), std::pair(model::Wait::Epoll, false),
									  std::pair(model::Wait::Poll, true), std::pair(model::Wait::Spin, true)}) {
		capture.cell.wait = wait;
		EXPECT_EQ(capture.decoded().transfers.at(0).polls, polls) << model::name(wait);
	}
}

TEST(Decode, ForeignRunsAreNamed)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	icepath_record &run = capture.add(1, ICEPATH_RECORD_FOREIGN_RUN, 1250, kForeign);
	run.run.in_ns = 1210;
	std::memcpy(run.run.comm, "0123456789abcdef", 16); // not null-terminated
	capture.slept(850, 1160, 1200, 1250);
	EXPECT_EQ(capture.decoded().task_names.at(kForeign), "0123456789abcdef");
	EXPECT_NE(capture.text().find("1:runqueue 50 by 99"), std::string::npos) << capture.text();
}

// A task's owner chooses its name.
TEST(Decode, NamesOfTasksArePrintable)
{
	Capture capture(kUnixSocket);
	icepath_record &run = capture.add(1, ICEPATH_RECORD_FOREIGN_RUN, 1250, kForeign);
	run.run.in_ns = 1210;
	std::memcpy(run.run.comm, "\033[2J\xc2\x9b\n\xff\xe2\x80\xae", 12);
	icepath_record &thread = capture.add(1, ICEPATH_RECORD_THREAD, 20, 80);
	std::memcpy(thread.thread.comm, "a\rb", 4);
	const Observations seen = capture.decoded();
	EXPECT_EQ(seen.task_names.at(kForeign), "\\x1b[2J\\x9b\\n\\xff\\u202e");
	EXPECT_EQ(seen.threads.at(80).name, "a\\x0db");
	EXPECT_EQ(seen.task_names.at(80), "a\\x0db");
}

// What it did between two calls may have been lost, so a later call tells nothing of the time before the first one.
TEST(Decode, AFollowedThreadRanFirstOnTheCpuOfItsFirstCall)
{
	constexpr uint32_t kFollowed = 80;
	Capture capture(kUnixSocket);
	capture.add(1, ICEPATH_RECORD_THREAD, 20, kFollowed);
	EXPECT_EQ(capture.decoded().threads.at(kFollowed).first_cpu_told_ns, UINT64_MAX);
	capture.add(2, ICEPATH_RECORD_CALL, 1650, kFollowed).call.begin_ns = 1600;
	capture.add(1, ICEPATH_RECORD_CALL, 1550, kFollowed).call.begin_ns = 1500;
	const Observations seen = capture.decoded();
	EXPECT_EQ(seen.threads.at(kFollowed).first_cpu, 1);
	EXPECT_EQ(seen.threads.at(kFollowed).first_cpu_told_ns, 1550u);
}

// The receiver of an eventfd looks at memory only after the call has notified it, so the slot's stamp doesn't bound
// "ready".
TEST(Decode, ABellRingsWithinItsCall)
{
	Capture capture({Mechanism::UserSlot, Mechanism::Bell});
	capture.cell.wait = model::Wait::Poll;
	capture.block.flows[0].sends = {{0, 1000, 1000, 1100, 1090, 1200, 1, 0, 0}};
	capture.block.flows[0].recvs = {{0, 800, 0, 0, 0, 1180, 1300, 1, 0}};
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 0:sender.kernel 80~ | 1:receiver.user 120");
	capture.block.flows[0].recvs[0].observe_ns = 1250;
	const Observations seen = capture.decoded();
	const Path path = walk(seen, seen.deliveries.at(0));
	EXPECT_EQ(text_of(path), "0:sender.user 100 | 0:sender.kernel 100~ | 1:propagation 50 | 1:receiver.user 50");
	EXPECT_EQ(path.segments.at(1).end.earliest_ns, 1100u);
	EXPECT_EQ(path.segments.at(1).end.latest_ns, 1200u);
	capture.cell.mechanisms = {Mechanism::UserSlot};
	EXPECT_EQ(capture.text(), "0:sender.user 90 | 1:propagation 160 | 1:receiver.user 50")
		<< "who may look at any time";
}

TEST(Decode, AStoreIsOverWhenItsThreadStampsAgain)
{
	Capture capture({Mechanism::UserSlot}, 2);
	capture.block.flows[0].sends = {{0, 1000, 1000, 0, 1090, 0, 1, 0, 0}, {1, 2000, 2000, 2100, 2090, 2200, 1, 0, 0}};
	capture.block.flows[0].recvs = {{0, 800, 0, 0, 0, 1180, 1300, 1, 0}, {1, 1400, 0, 0, 0, 2180, 2300, 1, 0}};
	const Observations seen = capture.decoded();
	EXPECT_EQ(seen.transfers.at(0).stored_by_ns(), 2000u) << "the next message";
	EXPECT_EQ(seen.transfers.at(1).stored_by_ns(), 2100u) << "the call that wakes";
}

// Another cell's thread, measured at the same time: it may have the CPU, by its own records, but none of its messages
// belong to this block.
TEST(Decode, WhoIsMeasuredBesideIsNamedWhereItHadTheCpu)
{
	constexpr uint32_t kCompanion = 40;
	Capture capture(kUnixSocket);
	capture.ready(1150);
	capture.slept(850, 1160, 1200, 1250);
	icepath_record &sleep = capture.add(1, ICEPATH_RECORD_OFF_CPU, 1210, kCompanion);
	sleep.off.out_ns = 900;
	sleep.off.waking_ns = sleep.off.wakeup_ns = 1190;
	sleep.off.out_cpu = kReceiverCpu;
	EXPECT_EQ(capture.decoded().lost.size(), 1u) << "a record of a thread that nobody knows is lost";
	capture.window().threads.push_back({kCompanion, kReceiverCpu, "tcp receiver"});
	EXPECT_TRUE(capture.decoded().lost.empty());
	EXPECT_EQ(capture.decoded().deliveries.size(), 1u);
	EXPECT_NE(capture.text().find("1:runqueue 50 by 40"), std::string::npos) << capture.text();
	EXPECT_EQ(capture.decoded().task_names.at(kCompanion), "tcp receiver");
	// By the end of the block it sleeps again, since before that.
	sleep.end_ns = 1195;
	capture.add(1, ICEPATH_RECORD_STILL_OFF, 900'000, kCompanion).off.out_ns = 1205;
	EXPECT_EQ(capture.text().find("by 40"), std::string::npos) << capture.text();
}

TEST(Decode, ThreadsOfOtherCellsAreToldAsTheirs)
{
	constexpr uint32_t kSide = 40, kItsThread = 41, kDaemon = 50, kDaemonsThread = 51, kLeftRunning = 60;
	Capture capture(kUnixSocket);
	capture.block.cell = 2;
	capture.ready(1150);
	capture.window().threads.push_back({kSide, kReceiverCpu, "tcp receiver"});
	for (const auto &[tid, process] : {std::pair{kItsThread, kSide}, {kDaemonsThread, kDaemon}}) {
		icepath_record &thread = capture.add(1, ICEPATH_RECORD_THREAD, 20, tid);
		thread.thread.tgid = process;
		std::strcpy(thread.thread.comm, "worker");
	}
	capture.window().others = {{kDaemon, "daemon broker", {0, 1}}, {kLeftRunning, "nng/ipc", {3}}};
	icepath_record &run = capture.add(1, ICEPATH_RECORD_FOREIGN_RUN, 40, kLeftRunning);
	run.run.in_ns = 30;
	std::strcpy(run.run.comm, "nng:task");
	Observations seen = capture.decoded();
	for (const uint32_t tid : {kSide, kItsThread, kDaemonsThread, kLeftRunning})
		EXPECT_TRUE(path::is_of_another_cell(seen, tid)) << tid;
	for (const uint32_t tid : {kSender, kReceiver})
		EXPECT_FALSE(path::is_of_another_cell(seen, tid)) << tid;
	EXPECT_EQ(seen.task_names.at(kItsThread), "tcp receiver's worker");
	EXPECT_EQ(seen.task_names.at(kDaemonsThread), "daemon broker's worker");
	EXPECT_EQ(seen.task_names.at(kLeftRunning), "nng/ipc's nng:task");
	capture.block.cell = 1;
	seen = capture.decoded();
	EXPECT_FALSE(path::is_of_another_cell(seen, kDaemonsThread)) << "it is this cell's daemon as well";
	EXPECT_EQ(seen.task_names.at(kDaemonsThread), "worker");
}

TEST(Decode, OneReadOfTwoMessages)
{
	Capture capture(kUnixSocket, 2);
	auto &recvs = capture.block.flows[0].recvs;
	recvs[0] = {0, 500, 0, 501, 2600, 0, 2700, 1, 0};
	recvs[1] = {1, 2700, 0, 501, 2600, 0, 2800, 1, 0};
	capture.ready(1150);
	capture.ready(2150);
	capture.slept(850, 1160, 1200, 2250);
	const Observations seen = capture.decoded();
	EXPECT_FALSE(seen.transfers.at(0).follows_in_read);
	EXPECT_TRUE(seen.transfers.at(1).follows_in_read);
	EXPECT_EQ(seen.transfers.at(1).ask.at_ns, 500u);
	EXPECT_TRUE(capture.text(1).ends_with("1:receiver.kernel 350 | 1:receiver.user/backlog 200")) << capture.text(1);
}

// One message for two receivers: the sender's call for the first is part of the second's path.
TEST(Decode, EachReceiverOfAMessageHasItsOwnWay)
{
	Capture capture(kUnixSocket);
	constexpr uint32_t kSecond = 333;
	constexpr uint64_t kSecondKey = 9;
	capture.cell.pattern = model::Pattern::FanOut;
	capture.cell.graph = model::star(1, {0, kReceiverCpu, kReceiverCpu}, model::Between::Processes, false);
	capture.block.sides.push_back(capture.block.sides[1]);
	capture.block.sides[2].tid = kSecond;
	capture.block.flows.push_back({kSenderKey, kSecondKey, {}, {}});
	capture.block.flows[1].sends = {{0, 1000, 1000, 1220, 0, 1300, 1, 0, 0}};
	capture.block.flows[1].recvs = {{0, 800, 0, 801, 1600, 0, 1700, 1, 0}};
	capture.ready(1150);
	capture.ready(1260).socket.socket = kSecondKey;
	EXPECT_EQ(capture.text(0), "0:sender.user 100 | 0:sender.kernel 50 | 1:receiver.kernel 450 | 1:receiver.user 100");
	EXPECT_EQ(capture.text(1), "0:sender.user 100 | 0:sender.kernel 100 | 0:sender.user 20 | 0:sender.kernel 40 | "
							   "1:receiver.kernel 340 | 1:receiver.user 100");
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.deliveries.size(), 2u);
	EXPECT_EQ(seen.deliveries[1].receiver, kSecond);
	EXPECT_EQ(model::place_of(seen.deliveries[1].message).flow, 1u);
	EXPECT_EQ(model::place_of(seen.deliveries[1].message).seq, 0u);
}

TEST(Decode, WarmUpAndDuplicatesGiveNoDelivery)
{
	Capture capture(kUnixSocket, 3);
	capture.block.flows[0].sends[0].flags = model::kStampWarmUp;
	capture.block.flows[0].recvs.push_back(capture.block.flows[0].recvs[2]);
	capture.block.flows[0].recvs.back().recv_ns += 5000;
	const Observations seen = capture.decoded();
	EXPECT_EQ(seen.transfers.size(), 3u);
	ASSERT_EQ(seen.deliveries.size(), 2u);
	EXPECT_EQ(seen.deliveries[1].recv.at_ns, 3700u);
}

TEST(Decode, PingPongHasBothDirections)
{
	Capture capture(kUnixSocket);
	capture.cell.pattern = model::Pattern::PingPong;
	capture.cell.graph = model::star(1, {0, kReceiverCpu}, model::Between::Processes, true);
	capture.block.flows.push_back({kReceiverKey, kSenderKey, {}, {}});
	capture.block.flows[1].sends.push_back({0, 1800, 1800, 1810, 0, 1830, 1, 0, 0});
	capture.block.flows[1].recvs.push_back({0, 1300, 0, 1300, 1900, 0, 1910, 1, 0});
	icepath_record &back = capture.add(1, ICEPATH_RECORD_DATA_READY, 1820, kReceiver);
	back.socket.socket = kSenderKey;
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.deliveries.size(), 2u);
	EXPECT_EQ(seen.deliveries[1].sender, kReceiver);
	EXPECT_EQ(capture.text(1), "0:sender.user 10 | 0:sender.kernel 10 | 1:receiver.kernel 80 | 1:receiver.user 10");
}

} // namespace
} // namespace icepath::decode
