// SPDX-License-Identifier: Apache-2.0
// Messages and requests of watched programs, on hand-made timelines.
#include "profiler/resolve/stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/resolve/watched.h"

namespace icepath::resolve {
namespace {

using model::EndRole;
using model::StreamKind;

constexpr uint32_t kClient = 10, kProxy = 20, kServer = 30, kOther = 40;
constexpr uint64_t kC = 100, kS = 200, kC2 = 300, kS2 = 400, kPipe = 500; // ends of connections

// What was resolved, as text that doesn't depend on the numbers of records.
struct Told : StreamVisitor {
	void message(const decode::CalledMessage &one, const path::Path &path, const path::Observations &) override
	{
		messages.push_back(fmt::format("{} {}..{} {}", decode::kIdentityNames[static_cast<size_t>(one.identity)],
									   one.send_ns, one.recv_ns, layers(path)));
		short_messages.push_back(fmt::format("{} {}..{}", decode::kIdentityNames[static_cast<size_t>(one.identity)],
											 one.send_ns, one.recv_ns));
	}
	void request(const decode::Request &one, const path::Path &path, const path::Observations &) override
	{
		requests.push_back(fmt::format("{} {}", tree(one), layers(path)));
		trees.push_back(tree(one));
		EXPECT_TRUE(path.complete()) << path::kReasonNames[static_cast<size_t>(path.reason)];
	}
	static std::string tree(const decode::Request &one)
	{
		std::string text = fmt::format("{}..{}", one.send_ns(), one.recv_ns());
		for (const decode::Request &inner : one.nested)
			text += " (" + tree(inner) + ")";
		return text + (one.beside ? fmt::format(" +{}", one.beside) : "");
	}
	static std::string layers(const path::Path &path)
	{
		std::string text;
		uint64_t sum_ns = 0;
		for (const path::Segment &segment : path.segments) {
			text += fmt::format("{}{}{}@{} ", segment.hop, model::name(segment.layer), model::name(segment.part),
								segment.end.at_ns);
			sum_ns += segment.duration_ns();
		}
		EXPECT_EQ(sum_ns, path.complete() ? path.recv_ns - path.send_ns : 0);
		return text + std::string(path::kReasonNames[static_cast<size_t>(path.reason)]);
	}
	std::vector<std::string> messages, short_messages, requests, trees;
};

struct Result {
	Told told;
	LeftOpen left;
	decode::Unpaired unpaired;
};

Result resolved(const std::vector<model::Window> &windows, const std::vector<model::Connection> &connections)
{
	Result result;
	Stream stream(connections, result.told);
	for (const model::Window &window : windows)
		stream.add(window);
	stream.finish();
	result.left = stream.left_open();
	for (const auto &[object, some] : stream.unpaired()) {
		result.unpaired.ambiguous += some.ambiguous;
		result.unpaired.too_old += some.too_old;
	}
	for (auto *lines : {&result.told.messages, &result.told.short_messages, &result.told.requests, &result.told.trees})
		std::ranges::sort(*lines);
	return result;
}

using Lines = std::vector<std::string>;

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

// Clients that ask a server through a proxy over connections of their own, each step a call with a sleep before it.
class Conversation {
public:
	explicit Conversation(uint32_t seed) : random_(seed)
	{
		for (uint32_t i = 0; i < 3; i++) {
			connections.push_back(connection(1000 + i, 2000 + i, StreamKind::UnixStream, EndRole::Connected));
			connections.push_back(connection(3000 + i, 4000 + i, StreamKind::UnixStream, EndRole::Connected));
			for (uint32_t base : {100u, 200u, 300u}) {
				watched.cpus[base + i] = static_cast<uint16_t>((base / 100 + i) % 2);
				watched.thread(base + i, fmt::format("t{}", base + i));
			}
		}
		for (int turn = 0; turn < 120; turn++)
			for (uint32_t i = 0; i < 3; i++)
				ask(i);
	}

	Watched watched;
	std::vector<model::Connection> connections;
	std::vector<std::string> truth; // "send..recv" of each message

private:
	uint64_t some(uint64_t most) { return std::uniform_int_distribution<uint64_t>(1, most)(random_); }

	void ask(uint32_t i)
	{
		uint64_t &at = clock_[i];
		at += some(40'000'000);
		pass(100 + i, 1000 + i, 200 + i, 2000 + i, at);
		if (some(3) > 1) {
			pass(200 + i, 3000 + i, 300 + i, 4000 + i, at);
			pass(300 + i, 4000 + i, 200 + i, 3000 + i, at);
		}
		pass(200 + i, 2000 + i, 100 + i, 1000 + i, at);
	}

	// One message: announced in its call, and taken by one or two calls of a thread that slept.
	void pass(uint32_t from, uint64_t given_to, uint32_t to, uint64_t out_of, uint64_t &at)
	{
		const auto bytes = static_cast<int64_t>(some(500) + 1), first = bytes / 2;
		int64_t &end = ends_[given_to];
		const uint64_t send = at += some(2000), ready = at += some(500), sent = at += some(500);
		end += bytes;
		watched.ready(from, ready, out_of);
		watched.give(from, send, sent, given_to, bytes, end);
		watched.slept(to, last_[to] + 1, ready + 1, at += 20 + some(3000), from);
		const uint64_t take = at += some(300);
		at += some(300);
		if (some(2) == 1) {
			watched.take(to, take, at, out_of, bytes, end);
		} else {
			watched.take(to, take, at, out_of, first, end - bytes + first);
			const uint64_t again = at += some(200);
			watched.take(to, again, at += some(300), out_of, bytes - first, end);
		}
		truth.push_back(fmt::format("exact {}..{}", send, at));
		last_[to] = at;
		last_[from] = std::max(last_[from], sent);
		at += 10;
	}

	std::mt19937 random_;
	std::map<uint32_t, uint64_t> clock_ = {{0, 5000}, {1, 6000}, {2, 7000}}, last_;
	std::map<uint64_t, int64_t> ends_;
};

// All of them would be pages.
void expect_same(const Lines &these, const Lines &those)
{
	const auto [one, other] = std::ranges::mismatch(these, those);
	EXPECT_TRUE(one == these.end() && other == those.end()) << (one == these.end() ? "nothing" : *one) << "\n"
															<< (other == those.end() ? "nothing" : *other);
}

TEST(StreamCuts, CutAtRandomIsUncut)
{
	for (uint32_t seed = 0; seed < 6; seed++) {
		Conversation all(seed);
		const Result whole = resolved(all.watched.windows(), all.connections);
		std::ranges::sort(all.truth);
		EXPECT_EQ(whole.told.short_messages, all.truth);
		EXPECT_EQ(2 * whole.told.trees.size(), all.truth.size());
		std::mt19937 random(seed);
		for (int round = 0; round < 3; round++) {
			std::set<uint64_t> cuts;
			while (cuts.size() < 40)
				cuts.insert(std::uniform_int_distribution<uint64_t>(1000, all.watched.end_ns())(random));
			const Result cut = resolved(all.watched.windows({cuts.begin(), cuts.end()}), all.connections);
			expect_same(cut.told.messages, whole.told.messages);
			expect_same(cut.told.requests, whole.told.requests);
		}
	}
}

// A record is dropped and nothing tells: at most the messages and requests of its calls are missing, none is wrong.
TEST(StreamLoss, ACallThatIsLostSilentlyHarmsOnlyItsOwnMessages)
{
	Conversation all(3);
	const Result whole = resolved(all.watched.windows(), all.connections);
	const std::set<std::string> truth(all.truth.begin(), all.truth.end());
	const std::set<std::string> trees(whole.told.trees.begin(), whole.told.trees.end());
	std::mt19937 random(1);
	int dropped = 0;
	while (dropped < 40) {
		Watched less = all.watched;
		const auto which = std::uniform_int_distribution<size_t>(0, less.records.size() - 1)(random);
		if (less.records[which].type != ICEPATH_RECORD_CALL)
			continue;
		dropped++;
		less.records.erase(less.records.begin() + static_cast<std::ptrdiff_t>(which));
		const Result told = resolved(less.windows(), all.connections);
		size_t matched = 0;
		for (const std::string &one : told.told.short_messages)
			if (one.starts_with("exact")) {
				matched++;
				EXPECT_TRUE(truth.contains(one)) << one;
			}
		EXPECT_GE(matched + 1, truth.size());
		size_t right = 0;
		for (const std::string &one : told.told.trees)
			right += trees.contains(one);
		// It and the one that it is nested in; and one more that can't be told from it.
		EXPECT_GE(right + 4, trees.size());
	}
}

} // namespace
} // namespace icepath::resolve
