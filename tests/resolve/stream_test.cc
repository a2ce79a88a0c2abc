// SPDX-License-Identifier: Apache-2.0
// Messages and requests of watched programs, on hand-made timelines.
#include "profiler/resolve/stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/resolve/told.h"
#include "tests/resolve/watched.h"

namespace icepath::resolve {
namespace {

using model::EndRole;
using model::StreamKind;

constexpr uint32_t kClient = 10, kProxy = 20, kServer = 30, kOther = 40;
constexpr uint64_t kC = 100, kS = 200, kC2 = 300, kS2 = 400, kPipe = 500; // ends of connections

const std::vector<model::Connection> kTwo = {connection(kC, kS, StreamKind::UnixStream, EndRole::Connected),
											 connection(kC2, kS2, StreamKind::UnixStream, EndRole::Connected),
											 connection(kPipe, kPipe, StreamKind::Pipe, EndRole::Unknown)};

class StreamTest : public testing::Test {
protected:
	StreamTest()
	{
		for (const uint32_t tid : {kClient, kProxy, kServer, kOther})
			watched.thread(tid, fmt::format("thread {}", tid));
	}
	Result result() const { return resolved(watched.windows(), kTwo); }
	Lines messages() const { return result().told.short_messages; }
	Lines trees() const { return result().told.trees; }
	Watched watched;
};

TEST_F(StreamTest, AMessageIsReceivedByTheCallThatTakesItsLastByte)
{
	watched.give(kClient, 1000, 1100, kC, 50, 50);
	watched.give(kClient, 1200, 1300, kC, 70, 120);
	watched.take(kServer, 2000, 2100, kS, 30, 30);
	watched.take(kServer, 2200, 2300, kS, 60, 90);
	watched.take(kServer, 2400, 2500, kS, 30, 120);
	EXPECT_EQ(messages(), (Lines{"exact 1000..2300", "exact 1200..2500"}));
}

TEST_F(StreamTest, CallsOfTwoWritersAtOnceAreContendedAndLaterOnesArent)
{
	watched.give(kClient, 1000, 1100, kC, 50, 50);
	watched.give(kOther, 1050, 1200, kC, 50, 100);
	watched.give(kClient, 1300, 1400, kC, 50, 150);
	watched.take(kServer, 2000, 2100, kS, 150, 150);
	EXPECT_EQ(messages(), (Lines{"contended 1000..0", "contended 1050..0", "exact 1300..2100"}));
}

// Where its bytes are isn't known, but that they are somewhere near is.
TEST_F(StreamTest, ACallWithoutAPlaceThatOverlapsAnotherContendsIt)
{
	watched.give(kClient, 1000, 1100, kC, 50, 50);
	watched.give(kClient, 3000, 3100, kC, 50, 130);
	watched.take(kOther, 1950, 2050, kS, 30);
	watched.take(kServer, 2000, 2100, kS, 50, 50);
	watched.take(kServer, 4000, 4100, kS, 50, 130);
	EXPECT_EQ(messages(), (Lines{"contended 1000..0", "exact 3000..4100"}));
}

// The other writer's call may have ended within the loss, and begun once its last known one was over.
TEST_F(StreamTest, ACallThatALostOneMayOverlapIsContended)
{
	watched.give(kOther, 500, 600, kC, 50, 50);
	watched.give(kClient, 1000, 1100, kC, 50, 100);
	watched.lost(1050, 1500);
	watched.give(kClient, 2000, 2100, kC, 50, 150);
	watched.take(kServer, 3000, 3100, kS, 150, 150);
	EXPECT_EQ(messages(), (Lines{"contended 1000..0", "exact 2000..3100", "exact 500..3100"}));
}

TEST_F(StreamTest, OneWritersCallsArentContendedByALoss)
{
	watched.give(kClient, 1000, 1100, kC, 50, 50);
	watched.lost(1050, 1500);
	watched.take(kServer, 3000, 3100, kS, 50, 50);
	EXPECT_EQ(messages(), Lines{"exact 1000..3100"});
}

// Only the ends of calls say in which order their bytes went through a pipe, and these may be in another order.
TEST_F(StreamTest, OfAPipeThatASecondThreadWritesToAllLaterMessagesAreContended)
{
	watched.call(ICEPATH_CALL_TAKE, kServer, 500, 510, kPipe, -11);
	watched.give(kClient, 1000, 1100, kPipe, 50, 50);
	watched.take(kServer, 1200, 1300, kPipe, 50, 50);
	watched.give(kOther, 2000, 2100, kPipe, 50, 100);
	watched.take(kServer, 2200, 2300, kPipe, 50, 100);
	watched.give(kClient, 3000, 3100, kPipe, 50, 150);
	watched.take(kServer, 3200, 3300, kPipe, 50, 150);
	watched.of_pipes();
	EXPECT_EQ(messages(), (Lines{"contended 2000..0", "contended 3000..0", "exact 1000..1300"}));
}

TEST_F(StreamTest, OfAPipeThatASecondThreadReadsFromAllLaterMessagesAreContended)
{
	watched.call(ICEPATH_CALL_TAKE, kServer, 500, 510, kPipe, -11);
	watched.give(kClient, 1000, 1100, kPipe, 50, 50);
	watched.take(kServer, 1200, 1300, kPipe, 50, 50);
	watched.give(kClient, 2000, 2100, kPipe, 50, 100);
	watched.take(kOther, 2200, 2300, kPipe, 50, 100);
	watched.of_pipes();
	EXPECT_EQ(messages(), (Lines{"contended 2000..0", "exact 1000..1300"}));
}

TEST_F(StreamTest, AWriterThatReturnsMuchLaterIsWaitedFor)
{
	watched.give(kOther, 100, 200, kC, 10, 10);
	watched.give(kClient, 1000, 1100, kC, 50, 60);
	watched.take(kServer, 2000, 2100, kS, 60, 60);
	watched.give(kOther, 1050, 900'000'000, kC, 50, 110);
	const auto told = resolved(watched.windows({300'000'000, 600'000'000}), kTwo).told;
	EXPECT_EQ(told.short_messages, (Lines{"contended 1000..0", "exact 100..2100"}));
}

// Its call might have overlapped the first one, had it begun so early.
TEST_F(StreamTest, AWriterThatComesLaterMakesNoMessageToldTwice)
{
	watched.give(kClient, 1000, 1100, kC, 50, 50);
	watched.take(kServer, 2000, 2100, kS, 50, 50);
	watched.give(kOther, 400'000'000, 400'000'100, kC, 50, 100);
	watched.take(kServer, 400'001'000, 400'001'100, kS, 50, 100);
	const auto told = resolved(watched.windows({300'000'000, 600'000'000}), kTwo).told;
	EXPECT_EQ(told.short_messages, (Lines{"exact 1000..2100", "exact 400000000..400001100"}));
}

// As long as a call of its is kept, another giver may have been in one that isn't over. The records that follow take
// the place of that call, so a message is decided earlier than it seemed.
TEST_F(StreamTest, AWriterWhoseCallIsForgottenMakesNoMessageLost)
{
	watched.cpus[kOther] = watched.cpus[50] = 1;
	watched.thread(50, "busy");
	watched.give(kOther, 100, 200, kC, 10, 10);
	watched.take(kServer, 300, 400, kS, 10, 10);
	watched.give(kServer, 500, 600, kS, 10, 10);
	watched.take(kOther, 700, 800, kC, 10, 10);
	watched.give(kClient, 1'500'000'000, 1'500'000'100, kC, 50, 60);
	watched.take(kServer, 1'500'000'200, 1'500'000'300, kS, 50, 60);
	for (uint64_t at = 1'300'000'000; at < 1'300'300'000; at += 1000)
		watched.call(ICEPATH_CALL_OTHER, 50, at, at + 10, 0, 0);
	const auto told =
		resolved(watched.windows({1'000'000'000, 2'000'000'000, 3'000'000'000, 5'000'000'000}), kTwo).told;
	EXPECT_EQ(told.short_messages, (Lines{"exact 100..400", "exact 1500000000..1500000300", "exact 500..800"}));
}

TEST_F(StreamTest, TwoReadersAtOnceAreContended)
{
	watched.give(kClient, 1000, 1100, kC, 50, 50);
	watched.give(kClient, 1200, 1300, kC, 50, 100);
	watched.take(kServer, 900, 1400, kS, 50, 50);
	watched.take(kOther, 900, 1500, kS, 50, 100);
	EXPECT_EQ(messages(), (Lines{"contended 1000..0", "contended 1200..0"}));
}

TEST_F(StreamTest, ALostTakeMakesOneMessageUnmatched)
{
	for (int i = 0; i < 4; i++)
		watched.give(kClient, 1000 + 1000 * i, 1100 + 1000 * i, kC, 50, 50 + 50 * i);
	for (int i : {0, 2, 3})
		watched.take(kServer, 1200 + 1000 * i, 1300 + 1000 * i, kS, 50, 50 + 50 * i);
	EXPECT_EQ(messages(), (Lines{"exact 1000..1300", "exact 3000..3300", "exact 4000..4300", "unmatched 2000..0"}));
}

TEST_F(StreamTest, ALostGiveLeavesATakeWithoutGiver)
{
	for (int i : {0, 2, 3})
		watched.give(kClient, 1000 + 1000 * i, 1100 + 1000 * i, kC, 50, 50 + 50 * i);
	for (int i = 0; i < 4; i++)
		watched.take(kServer, 1200 + 1000 * i, 1300 + 1000 * i, kS, 50, 50 + 50 * i);
	const Result told = result();
	EXPECT_EQ(told.told.short_messages, (Lines{"exact 1000..1300", "exact 3000..3300", "exact 4000..4300"}));
	EXPECT_EQ(told.left.without_giver, 1u);
}

TEST_F(StreamTest, WithoutPositionsBytesAreCountedOnceTheStreamWasEmpty)
{
	watched.take(kServer, 500, 600, kPipe, 30); // was there before
	watched.give(kClient, 1000, 1100, kPipe, 50);
	watched.take(kServer, 1200, 1300, kPipe, 50);
	watched.call(ICEPATH_CALL_TAKE, kServer, 1400, 1410, kPipe, -11); // EAGAIN
	watched.give(kClient, 2000, 2100, kPipe, 50);
	watched.take(kServer, 2200, 2300, kPipe, 20);
	watched.take(kServer, 2400, 2500, kPipe, 30);
	EXPECT_EQ(messages(), (Lines{"counted 1000..1300", "counted 2000..2500"}));
}

TEST_F(StreamTest, ASleepInATakingCallShowsAnEmptyStreamUnlessSomethingIsBeingGiven)
{
	watched.take(kServer, 500, 600, kPipe, 30);
	watched.give(kClient, 1000, 3000, kPipe, 80);
	watched.slept(kServer, 1200, 2500, 2600, kClient); // took 50, then waited for the rest
	watched.take(kServer, 1050, 1150, kPipe, 50);
	watched.take(kServer, 1190, 2700, kPipe, 30);
	EXPECT_EQ(messages(), Lines{}) << "what was there before isn't known";
	watched.slept(kServer, 4000, 4500, 4600, kClient);
	watched.take(kServer, 3900, 4700, kPipe, 10);
	watched.give(kClient, 4400, 4550, kPipe, 10);
	EXPECT_EQ(messages(), (Lines{"counted 1000..2700", "counted 4400..4700"}));
}

// It may have been for the stream's lock, whose holder's bytes it took after that.
TEST_F(StreamTest, ASleepThatWasEndedBeforeItBeganShowsNoEmptyStream)
{
	watched.take(kServer, 500, 600, kPipe, 30);
	watched.slept(kServer, 1020, 1010, 1040, kClient);
	watched.take(kServer, 1000, 1100, kPipe, 10);
	watched.give(kClient, 2000, 2100, kPipe, 50);
	watched.take(kServer, 2200, 2300, kPipe, 50);
	EXPECT_EQ(messages(), Lines{});
}

// How the other end is called is told as it is accepted, before any announcement.
TEST_F(StreamTest, AnAcceptedConnectionHasItsTwoEnds)
{
	icepath_record &accept = watched.call(ICEPATH_CALL_ACCEPT, kServer, 500, 600, 8, 0);
	accept.call.position = 7;
	watched.give(kClient, 1000, 1100, 7, 50, 50);
	watched.take(kServer, 1200, 1300, 8, 50, 50);
	watched.give(kServer, 2000, 2100, 8, 70, 70);
	watched.take(kClient, 2200, 2300, 7, 70, 70);
	const Result told = resolved(watched.windows(), {});
	EXPECT_EQ(told.told.short_messages, (Lines{"exact 1000..1300", "exact 2000..2300"}));
	EXPECT_EQ(told.told.trees, Lines{"1000..2300"});
}

TEST_F(StreamTest, CountsThatContradictAnEmptyStreamMatchNothing)
{
	watched.call(ICEPATH_CALL_TAKE, kServer, 500, 510, kPipe, -11);
	watched.give(kClient, 1000, 1100, kPipe, 50); // its taking is lost
	watched.give(kClient, 2000, 2100, kPipe, 50);
	watched.take(kServer, 2200, 2300, kPipe, 50);
	watched.call(ICEPATH_CALL_TAKE, kServer, 2400, 2410, kPipe, -11);
	watched.give(kClient, 3000, 3100, kPipe, 50);
	watched.take(kServer, 3200, 3300, kPipe, 50);
	const Lines told = messages();
	EXPECT_EQ(told, (Lines{"counted 3000..3300", "unmatched 1000..0", "unmatched 2000..0"}));
}

TEST_F(StreamTest, APipesPositionsAreProvenOnceItWasEmpty)
{
	watched.give(kClient, 1000, 1100, kPipe, 50, 50);
	watched.take(kServer, 1200, 1300, kPipe, 50, 50);
	watched.of_pipes();
	EXPECT_EQ(messages(), Lines{});
	watched.call(ICEPATH_CALL_TAKE, kServer, 1400, 1410, kPipe, -11);
	watched.give(kClient, 2000, 2100, kPipe, 50, 100);
	watched.take(kServer, 2200, 2300, kPipe, 50, 100);
	watched.of_pipes();
	EXPECT_EQ(messages(), (Lines{"exact 2000..2300", "unmatched 1000..0"}));
}

TEST_F(StreamTest, APipesPositionsThatDifferTwiceAreCorrectedAndOnceWait)
{
	for (int i = 0; i < 3; i++) { // it had held 30 bytes
		const uint64_t at = 10'000 * static_cast<uint64_t>(i + 1);
		watched.give(kClient, at + 1000, at + 1100, kPipe, 50, 50 * (i + 1));
		watched.take(kServer, at + 1200, at + 1300, kPipe, 50, 30 + 50 * (i + 1));
		watched.call(ICEPATH_CALL_TAKE, kServer, at + 1400, at + 1410, kPipe, -11);
		watched.of_pipes();
		if (i == 0) {
			EXPECT_EQ(messages(), Lines{});
		}
	}
	EXPECT_EQ(messages(), (Lines{"counted 31000..31300", "unmatched 11000..0", "unmatched 21000..0"}));
}

TEST_F(StreamTest, ALossMakesCountsBeginAgain)
{
	watched.call(ICEPATH_CALL_TAKE, kServer, 500, 510, kPipe, -11);
	watched.give(kClient, 1000, 1100, kPipe, 50);
	watched.take(kServer, 1200, 1300, kPipe, 50);
	// Here a second window begins some time after the first one. Something was given meanwhile.
	watched.take(kServer, 900'000'000, 900'000'100, kPipe, 30);
	watched.give(kClient, 900'001'000, 900'001'100, kPipe, 20);
	watched.take(kServer, 900'002'000, 900'002'100, kPipe, 20);
	watched.call(ICEPATH_CALL_TAKE, kServer, 900'003'000, 900'003'100, kPipe, -11);
	watched.give(kClient, 900'004'000, 900'004'100, kPipe, 50);
	watched.take(kServer, 900'005'000, 900'005'100, kPipe, 50);
	std::vector<model::Window> windows = watched.windows({400'000'000});
	windows[0].finish.monotonic_ns -= 1000;
	windows[1].begins_midway = windows[0].ends_midway = false;
	for (model::SlotCapture &slot : windows[1].slots) {
		for (icepath_record &record : slot.records)
			record.seq -= slot.first;
		slot.position -= slot.first;
		slot.first = 0;
	}
	EXPECT_EQ(resolved(windows, kTwo).told.short_messages,
			  (Lines{"counted 1000..1300", "counted 900001000..900002100", "counted 900004000..900005100"}));
}

TEST_F(StreamTest, TcpsPositionsWrap)
{
	constexpr int64_t kModulus = int64_t{1} << 32;
	for (int i = 0; i < 4; i++) {
		const int64_t end = (kModulus - 100 + 50 * (i + 1)) % kModulus;
		watched.give(kClient, 1000 + 1000 * i, 1100 + 1000 * i, kC, 50, end);
		watched.take(kServer, 1200 + 1000 * i, 1300 + 1000 * i, kS, 50, end);
	}
	EXPECT_EQ(
		resolved(watched.windows(), {connection(kC, kS, StreamKind::Tcp, EndRole::Connected)}).told.short_messages,
		(Lines{"exact 1000..1300", "exact 2000..2300", "exact 3000..3300", "exact 4000..4300"}));
}

// What is announced at a socket shows its peer, of datagrams as well.
TEST_F(StreamTest, DatagramsAreNoStream)
{
	for (const uint8_t kind : {ICEPATH_OBJECT_UNIX_STREAM, ICEPATH_OBJECT_UNIX_DATAGRAM, ICEPATH_OBJECT_ANONYMOUS}) {
		watched.records.clear();
		watched.thread(kClient, "client");
		watched.thread(kServer, "server");
		watched.ready(kClient, 1050, kS);
		watched.give(kClient, 1000, 1100, kC, 50, kind == ICEPATH_OBJECT_UNIX_STREAM ? 50 : -1).call.object_kind = kind;
		watched.take(kServer, 1200, 1300, kS, 50, kind == ICEPATH_OBJECT_UNIX_STREAM ? 50 : -1).call.object_kind = kind;
		watched.slept(kServer, 1310, 1400, 1450, kClient);
		watched.take(kServer, 1305, 1500, kS, 0).call.object_kind = kind;
		const Result all = resolved(watched.windows(), {});
		EXPECT_EQ(all.told.short_messages.size(), kind == ICEPATH_OBJECT_UNIX_STREAM ? 1u : 0u) << int{kind};
	}
}

// As a file may say that wasn't written by icepath.
TEST_F(StreamTest, MoreBytesThanTheStreamHasHarmNothing)
{
	watched.give(kClient, 1000, 1100, kC, 5000, 50);
	watched.take(kServer, 1200, 1300, kS, 10, 10);
	watched.take(kServer, 1400, 1500, kS, 40, 50);
	for (int i = 0; i < 3; i++) {
		watched.give(kClient, 2000 + 1000 * i, 2100 + 1000 * i, kC, 10, 60 + 10 * i);
		watched.take(kServer, 2200 + 1000 * i, 2300 + 1000 * i, kS, 10, 60 + 10 * i);
	}
	EXPECT_EQ(resolved(watched.windows(), kTwo).told.short_messages,
			  (Lines{"exact 1000..1500", "exact 2000..2300", "exact 3000..3300", "exact 4000..4300"}));
}

TEST_F(StreamTest, ARequestIsAThreadsTakeAndItsNextGiveThere)
{
	watched.give(kClient, 1000, 1100, kC, 50, 50);
	watched.take(kServer, 1200, 1300, kS, 50, 50);
	watched.give(kServer, 2000, 2100, kS, 70, 70);
	watched.take(kClient, 2200, 2300, kC, 70, 70);
	EXPECT_EQ(trees(), (Lines{"1000..2300"}));
}

TEST_F(StreamTest, RequestsThatTheServerMakesMeanwhileNest)
{
	watched.give(kClient, 1000, 1100, kC, 50, 50);
	watched.take(kProxy, 1200, 1300, kS, 50, 50);
	for (int i = 0; i < 2; i++) {
		const uint64_t at = 2000 + 1000 * i;
		watched.give(kProxy, at, at + 100, kC2, 40, 40 + 40 * i);
		watched.take(kServer, at + 200, at + 300, kS2, 40, 40 + 40 * i);
		watched.give(kServer, at + 400, at + 500, kS2, 60, 60 + 60 * i);
		watched.take(kProxy, at + 600, at + 700, kC2, 60, 60 + 60 * i);
	}
	watched.give(kProxy, 5000, 5100, kS, 70, 70);
	watched.take(kClient, 5200, 5300, kC, 70, 70);
	EXPECT_EQ(trees(), (Lines{"1000..5300 (2000..2700) (3000..3700)", "2000..2700", "3000..3700"}));
}

TEST_F(StreamTest, ASecondRequestBeforeTheAnswerMakesBothAmbiguous)
{
	watched.give(kClient, 1000, 1100, kC, 50, 50);
	watched.give(kClient, 1150, 1180, kC, 50, 100);
	watched.take(kServer, 1200, 1300, kS, 50, 50);
	watched.take(kServer, 1400, 1500, kS, 50, 100);
	watched.give(kServer, 2000, 2100, kS, 70, 70);
	watched.take(kClient, 2200, 2300, kC, 70, 70);
	watched.give(kClient, 2400, 2450, kC, 50, 150); // sent after the first answer
	watched.take(kServer, 2500, 2600, kS, 50, 150);
	watched.give(kServer, 2700, 2800, kS, 70, 140); // and this is the second one's
	watched.take(kClient, 2900, 3000, kC, 70, 140);
	const Result told = result();
	EXPECT_EQ(told.told.trees, Lines{});
	EXPECT_EQ(told.unpaired.ambiguous, 3u);
}

TEST_F(StreamTest, AnAnswerOfAnotherThreadIsAmbiguous)
{
	watched.give(kClient, 1000, 1100, kC, 50, 50);
	watched.take(kServer, 1200, 1300, kS, 50, 50);
	watched.give(kOther, 2000, 2100, kS, 70, 70);
	watched.take(kClient, 2200, 2300, kC, 70, 70);
	const Result told = result();
	EXPECT_EQ(told.told.trees, Lines{});
	EXPECT_EQ(told.unpaired.ambiguous, 1u);
}

TEST_F(StreamTest, WhoTakesFirstServesASocketPair)
{
	watched.give(kClient, 1000, 1100, kC, 50, 50);
	watched.take(kServer, 1200, 1300, kS, 50, 50);
	watched.give(kServer, 2000, 2100, kS, 70, 70);
	watched.take(kClient, 2200, 2300, kC, 70, 70);
	watched.give(kClient, 3000, 3100, kC, 50, 100);
	watched.take(kServer, 3200, 3300, kS, 50, 100);
	EXPECT_EQ(resolved(watched.windows(), {connection(kC, kS, StreamKind::UnixStream, EndRole::Unknown)}).told.trees,
			  (Lines{"1000..2300"}));
}

TEST_F(StreamTest, WhatNobodyTakesInTimeIsTooOld)
{
	watched.give(kClient, 1000, 1100, kC, 50, 50);
	watched.give(kOther, 30'000'000'000, 30'000'000'100, kC2, 50, 50);
	const Result told = resolved(watched.windows({15'000'000'000}), kTwo);
	EXPECT_EQ(told.left.too_old, 1u);
	EXPECT_EQ(told.left.at_end, 1u);
	EXPECT_EQ(told.told.messages, Lines{});
}

TEST_F(StreamTest, AUnixSocketsOtherEndIsLearnedFromTheAnnouncementInTheCall)
{
	watched.give(kClient, 1000, 1100, 7, 50, 50);
	watched.ready(kClient, 1050, 8);
	watched.take(kServer, 1200, 1300, 8, 50, 50);
	EXPECT_EQ(resolved(watched.windows(), {}).told.short_messages, (Lines{"exact 1000..1300"}));
}

} // namespace
} // namespace icepath::resolve
