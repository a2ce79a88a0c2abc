// SPDX-License-Identifier: Apache-2.0
// What is known of connections grows with those that are open, not with those that there were.
#include <gtest/gtest.h>

#include "tests/resolve/told.h"
#include "tests/resolve/watched.h"

namespace icepath::resolve {
namespace {

using model::EndRole;
using model::StreamKind;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint32_t kAsks = 10, kAnswers = 20, kTicks = 30;

std::vector<uint64_t> seconds_until(uint64_t end_ns)
{
	std::vector<uint64_t> seconds;
	for (uint64_t at_ns = kSecond; at_ns < end_ns; at_ns += kSecond)
		seconds.push_back(at_ns);
	return seconds;
}

Watched of_two_threads()
{
	Watched watched;
	watched.thread(kAsks, "client");
	watched.thread(kAnswers, "server");
	watched.thread(kTicks, "other");
	return watched;
}

// One request and its answer over a connection that begins and ends with it.
void ask_once(Watched &watched, uint64_t at, uint64_t client_end, uint64_t server_end)
{
	watched.call(ICEPATH_CALL_ACCEPT, kAnswers, at, at + 100, server_end, 0).call.position = client_end;
	watched.give(kAsks, at + 200, at + 300, client_end, 50, 50);
	watched.take(kAnswers, at + 400, at + 500, server_end, 50, 50);
	watched.give(kAnswers, at + 600, at + 700, server_end, 70, 70);
	watched.take(kAsks, at + 800, at + 900, client_end, 70, 70);
}

struct Counted : StreamVisitor {
	void message(const decode::CalledMessage &one, const path::Path &, const path::Observations &) override
	{
		exact += one.identity == decode::Identity::Exact;
	}
	void request(const decode::Request &, const path::Path &, const path::Observations &) override { requests++; }
	uint64_t exact = 0, requests = 0;
};

TEST(StreamMemory, IsFlatWhileConnectionsComeAndGo)
{
	constexpr uint64_t kConnections = 100'000, kEach = 1'000'000; // 1,000 of them a second
	Watched watched = of_two_threads();
	for (uint64_t i = 0; i < kConnections; i++)
		ask_once(watched, kEach * (i + 1), 10 * i + 1, 10 * i + 2);
	Counted told;
	Stream stream({}, told);
	size_t most = 0;
	for (const model::Window &window : watched.windows(seconds_until(watched.end_ns()))) {
		stream.add(window);
		most = std::max(most, stream.objects());
	}
	stream.finish();
	EXPECT_EQ(told.exact, 2 * kConnections);
	EXPECT_EQ(told.requests, kConnections);
	EXPECT_LE(most, 2 * 1000 * (decode::kLongestOpenNs / kSecond + 3));
	EXPECT_GE(most, 2 * 1000 * decode::kLongestOpenNs / kSecond) << "nothing is forgotten early";
}

// Others keep time going on.
void tick(Watched &watched, uint64_t until_ns)
{
	for (uint64_t at_ns = kSecond / 2; at_ns < until_ns; at_ns += kSecond / 20)
		watched.call(ICEPATH_CALL_OTHER, kTicks, at_ns, at_ns + 10, 0, 0);
}

TEST(StreamMemory, WhatIsListedAsOpenIsKept)
{
	Watched watched = of_two_threads();
	watched.give(kAsks, 1000, 1100, 1, 50, 50);
	watched.take(kAnswers, 1200, 1300, 2, 50, 50);
	watched.give(kAnswers, 60 * kSecond, 60 * kSecond + 100, 2, 50, 50);
	watched.take(kAsks, 60 * kSecond + 200, 60 * kSecond + 300, 1, 50, 50);
	tick(watched, 61 * kSecond);
	const auto windows = watched.windows(seconds_until(watched.end_ns()));
	const auto listed = connection(1, 2, StreamKind::UnixStream, EndRole::Unknown);
	Told told;
	Stream stream({}, told);
	for (const model::Window &window : windows) {
		stream.know(window.finish.monotonic_ns < 30 * kSecond ? std::vector{listed} : std::vector{listed, listed});
		stream.add(window);
	}
	EXPECT_EQ(told.ended, std::vector<uint64_t>{});
	EXPECT_TRUE(stream.roles().serves(2));
	EXPECT_EQ(told.short_messages.size(), 2u);
	Told later;
	Stream without({listed}, later);
	for (const model::Window &window : windows) {
		if (window.finish.monotonic_ns > 30 * kSecond)
			without.know({});
		without.add(window);
	}
	without.finish();
	EXPECT_EQ(later.ended.size(), 2u);
	EXPECT_EQ(later.short_messages, Lines{"exact 1000..1300"});
	EXPECT_EQ(without.left_open().without_giver, 1u) << "who the second one is for isn't known any more";
}

// It may have held anything when it is seen again.
TEST(StreamMemory, APipeThatWasSilentForLongIsJoinedInMidstream)
{
	Watched watched = of_two_threads();
	const auto turn = [&](uint64_t at, int64_t end) {
		watched.give(kAsks, at + 1000, at + 1100, 5, 50, end);
		watched.take(kAnswers, at + 1200, at + 1300, 5, 50, end);
		watched.call(ICEPATH_CALL_TAKE, kAnswers, at + 1400, at + 1410, 5, -11);
	};
	watched.call(ICEPATH_CALL_TAKE, kAnswers, 500, 510, 5, -11);
	turn(0, 50);
	turn(60 * kSecond, 100);
	turn(61 * kSecond, 150);
	tick(watched, 62 * kSecond);
	watched.of_pipes();
	const Result told = resolved(watched.windows(seconds_until(watched.end_ns())), {});
	EXPECT_EQ(told.told.ended, std::vector<uint64_t>{5});
	EXPECT_EQ(told.told.short_messages,
			  (Lines{"exact 1000..1300", "exact 61000001000..61000001300", "unmatched 60000001000..0"}));
}

// What left the kernel's table of pipes begins anew there, far from where it was.
TEST(StreamMemory, APipeWhosePositionsBeginAnewHasNoWrongMessage)
{
	constexpr int64_t kAnew = 1'000'000;
	Watched watched = of_two_threads();
	watched.call(ICEPATH_CALL_TAKE, kAnswers, 500, 510, 5, -11);
	watched.give(kAsks, 1000, 1100, 5, 50, 50);
	watched.take(kAnswers, 1200, 1300, 5, 50, 50);
	watched.give(kAsks, 2000, 2100, 5, 30, 80);
	watched.take(kAnswers, 2200, 2300, 5, 30, kAnew + 30);
	watched.give(kAsks, 3000, 3100, 5, 40); // how far its ends are apart isn't known yet
	watched.take(kAnswers, 3200, 3300, 5, 40, kAnew + 70);
	for (int i = 0; i < 3; i++) {
		const uint64_t at = 1000 * (i + 4);
		watched.give(kAsks, at, at + 100, 5, 50, kAnew + 120 + 50 * i);
		watched.take(kAnswers, at + 200, at + 300, 5, 50, kAnew + 120 + 50 * i);
		watched.call(ICEPATH_CALL_TAKE, kAnswers, at + 400, at + 410, 5, -11);
	}
	watched.of_pipes();
	EXPECT_EQ(
		resolved(watched.windows(), {}).told.short_messages,
		(Lines{"exact 1000..1300", "exact 4000..4300", "exact 5000..5300", "exact 6000..6300", "unmatched 2000..0"}));
}

// Without its name, all that a thread does counts as lost.
TEST(StreamMemory, OfManyThreadsTheLatestKeepTheirNames)
{
	constexpr uint32_t kFirst = 1000, kThreads = 70'000;
	Watched watched = of_two_threads();
	for (uint32_t i = 0; i < kThreads; i++) {
		const uint64_t at_ns = kSecond + 100'000 * i;
		watched.thread(kFirst + i, "short").end_ns = at_ns;
		watched.call(ICEPATH_CALL_OTHER, kFirst + i, at_ns + 10, at_ns + 20, 0, 0);
	}
	tick(watched, 12 * kSecond);
	constexpr uint32_t kLast = kFirst + kThreads - 1;
	watched.call(ICEPATH_CALL_OTHER, kAsks, 7 * kSecond, 7 * kSecond + 10, 0, 0);
	watched.call(ICEPATH_CALL_OTHER, kAnswers, 7 * kSecond, 7 * kSecond + 10, 0, 0);
	watched.give(kAsks, 11 * kSecond, 11 * kSecond + 100, 1, 50, 50);
	watched.take(kAnswers, 11 * kSecond + 200, 11 * kSecond + 300, 2, 50, 50);
	watched.give(kLast, 11 * kSecond + 1000, 11 * kSecond + 1100, 1, 50, 100);
	watched.take(kAnswers, 11 * kSecond + 1200, 11 * kSecond + 1300, 2, 50, 100);
	const Result told = resolved(watched.windows({4 * kSecond, 9 * kSecond}),
								 {connection(1, 2, StreamKind::UnixStream, EndRole::Connected)});
	EXPECT_EQ(told.told.short_messages, (Lines{"exact 11000000000..11000000300", "exact 11000001000..11000001300"}));
}

} // namespace
} // namespace icepath::resolve
