// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/own_benchmarks.h"

#include <gtest/gtest.h>

namespace icepath::bench {
namespace {

// What ddsperf 0.10.2 wrote.
const std::string kDdsperf = R"([25549] participant vm:25549: new (self)
[25549] participant vm:25548: new
[25549] 2.000  vm:25548 size 64 mean 34.450us min 18.826us 50% 29.870us 90% 35.523us 99% 71.864us )"
							 R"(max 11447.931us cnt 14470
[25549] 2.000  rss:7.7MB vcsw:28979 ivcsw:91 recvUC:14%+20% pong:6%+21%
[25549] 3.000  vm:25548 size 64 mean 37.874us min 16.361us 50% 30.069us 90% 37.095us 99% 108.523us )"
							 R"(max 20334.397us cnt 13176
[25549] 3.000  rss:8.0MB vcsw:26433 ivcsw:190 recvUC:16%+16% pong:5%+20%
)";

// It prints half of each round trip: update_roundtrip() in its process_pong().
TEST(Ddsperf, TellsTwiceTheMedianOfTheLastSecond)
{
	const auto report = parse_ddsperf(kDdsperf);
	ASSERT_TRUE(report);
	EXPECT_DOUBLE_EQ(report->round_trip_ns, 60138);
	EXPECT_EQ(report->trips, 13176u);
}

TEST(Ddsperf, WithoutRoundTripsTellsNothing)
{
	EXPECT_FALSE(parse_ddsperf(""));
	EXPECT_FALSE(parse_ddsperf("[1] participant vm:1: new (self)\n"));
	EXPECT_FALSE(parse_ddsperf(kDdsperf.substr(0, kDdsperf.rfind(" 50% ") + 8))) << "cut off";
	std::string none = kDdsperf;
	none.replace(none.rfind("13176"), 5, "0");
	EXPECT_FALSE(parse_ddsperf(none));
}

// What iceperf-bench-leader of iceoryx 2.0.3 wrote, but for some rows.
const std::string kIceperf = R"(
******      ICEORYX       ********
Waiting for: subscription, subscriber [ success ]
Measurement for: 1 kB, 2 kB, 4 kB
Waiting for: unsubscribe  [ finished ]

#### Measurement Result ####
20000 round trips for each payload.

| Payload Size [kB] | Average Latency [µs] |
|------------------:|---------------------:|
|                 1 |                  2.4 |
|                 2 |                  2.6 |
|                 4 |                  2.3 |

Finished!
)";

// It prints half of each round trip: latencyPerfTestLeader() of its base.cpp.
TEST(Iceperf, TellsTwiceTheMeanOfOneKibibyte)
{
	const auto report = parse_iceperf(kIceperf);
	ASSERT_TRUE(report);
	EXPECT_DOUBLE_EQ(report->round_trip_ns, 4800);
	EXPECT_EQ(report->trips, 20000u);
}

TEST(Iceperf, WithoutTheRowTellsNothing)
{
	EXPECT_FALSE(parse_iceperf(""));
	EXPECT_FALSE(parse_iceperf(kIceperf.substr(0, kIceperf.find("2.4"))));
	for (const auto &[told, other] : {std::pair("|                 1 |", "|                 8 |"),
									  std::pair("2.4", "nan"), std::pair("2.4", "0.0"), std::pair("20000", "00000")}) {
		std::string damaged = kIceperf;
		damaged.replace(damaged.find(told), std::string(told).size(), other);
		EXPECT_FALSE(parse_iceperf(damaged)) << other;
	}
}

// What LatencyTest of Fast DDS 2.9.1 wrote.
const std::string kLatencyTest =
	"Reading demands file: /proc/self/fd/5\n"
	"Overhead 0.0252747 ns\n"
	"Printing round-trip times in us, statistics for 20000 samples\n"
	"   Bytes, Samples,   stdev,    mean,     min,     50%,     90%,     99%,  99.99%,     max\n"
	"--------,--------,--------,--------,--------,--------,--------,--------,--------,--------,\n"
	"      64,   20000,   8.121,  30.172,  18.220,  29.104,  34.911,  51.402, 310.552, 402.118 \n"
	"\x1b[32mEVERYTHING STOPPED FINE\x1b[m\n";

// It prints half of each round trip, whatever its heading says: on_data_available() of its publisher.
TEST(LatencyTest, TellsTwiceTheMedian)
{
	const auto report = parse_latency_test(kLatencyTest);
	ASSERT_TRUE(report);
	EXPECT_DOUBLE_EQ(report->round_trip_ns, 58208);
	EXPECT_EQ(report->trips, 20000u);
}

TEST(LatencyTest, WithoutTheRowTellsNothing)
{
	EXPECT_FALSE(parse_latency_test(""));
	EXPECT_FALSE(parse_latency_test(kLatencyTest.substr(0, kLatencyTest.find("29.104"))));
	for (const auto &[told, other] :
		 {std::pair("      64,", "      65,"), std::pair("29.104", "   nan"), std::pair("20000,   8", "00000,   8")}) {
		std::string damaged = kLatencyTest;
		damaged.replace(damaged.find(told), std::string(told).size(), other);
		EXPECT_FALSE(parse_latency_test(damaged)) << other;
	}
}

// As z_ping of Zenoh's examples writes it.
const std::string kZPing = R"(Warming up for 1s...
64 bytes: seq=0 rtt=131µs lat=65µs
64 bytes: seq=1 rtt=118µs lat=59µs
64 bytes: seq=2 rtt=1203µs lat=601µs
)";

// It prints whole microseconds, rounded down: Duration::as_micros() in its main().
TEST(ZPing, TellsTheMedianRoundTrip)
{
	const auto report = parse_z_ping(kZPing);
	ASSERT_TRUE(report);
	EXPECT_DOUBLE_EQ(report->round_trip_ns, 131'500);
	EXPECT_EQ(report->trips, 3u);
}

TEST(ZPing, WithATripMissingTellsNothing)
{
	EXPECT_FALSE(parse_z_ping(""));
	EXPECT_FALSE(parse_z_ping("Warming up for 1s...\n"));
	EXPECT_FALSE(parse_z_ping(kZPing.substr(0, kZPing.find("203")))) << "cut off";
	for (const auto &[told, other] :
		 {std::pair("seq=1", "seq=2"), std::pair("seq=0", "seq=1"), std::pair("118", "nan"), std::pair("118", "-18")}) {
		std::string damaged = kZPing;
		damaged.replace(damaged.find(told), std::string(told).size(), other);
		EXPECT_FALSE(parse_z_ping(damaged)) << other;
	}
}

TEST(ZPing, OfOtherPayloadsTellsNothing)
{
	std::string other = kZPing;
	for (size_t at = 0; (at = other.find("64 bytes")) != std::string::npos;)
		other.replace(at, 2, "65");
	EXPECT_FALSE(parse_z_ping(other));
}

// A damaged report tells nothing, or a time.
TEST(OwnBenchmarks, AreNeverNonsense)
{
	const auto look = [](const std::optional<RivalReport> &report) {
		if (report) {
			EXPECT_GT(report->round_trip_ns, 0);
			EXPECT_GT(report->trips, 0u);
		}
	};
	for (const std::string &whole : {kDdsperf, kIceperf, kLatencyTest, kZPing})
		for (size_t at = 0; at < whole.size(); at++)
			for (const char other : {'\0', '\n', ' ', '-', '9', '|', ',', '\xff'}) {
				std::string damaged = whole;
				damaged[at] = other;
				look(parse_ddsperf(damaged));
				look(parse_iceperf(damaged));
				look(parse_latency_test(damaged));
				look(parse_z_ping(damaged));
			}
}

} // namespace
} // namespace icepath::bench
