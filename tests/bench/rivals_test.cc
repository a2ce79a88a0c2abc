// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/rivals.h"

#include <gtest/gtest.h>

namespace icepath::bench {
namespace {

// sockperf 3.7 as Debian 12 has it, with the escapes that it writes into pipes too.
const std::string kSockperf =
	"sockperf: \x1b[2;35m== version #3.7-no.git == \x1b[0m\n"
	R"(sockperf[CLIENT] send on:sockperf: using recvfrom() to block on socket(s)

[ 0] IP = 127.0.0.1       PORT = 23456 # UDP
sockperf: Warmup stage (sending a few dummy messages)...
sockperf: Starting test...
sockperf: Test end (interrupted by timer)
sockperf: Test ended
sockperf: [Total Run] RunTime=1.004 sec; Warm up time=400 msec; SentMessages=8742; ReceivedMessages=8741
sockperf: ========= Printing statistics for Server No: 0
sockperf: [Valid Duration] RunTime=0.550 sec; SentMessages=4708; ReceivedMessages=4708
)"
	"sockperf: \x1b[2;35m====> avg-rtt=116.738 (std-dev=419.855)\x1b[0m\n"
	R"(sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
sockperf: Summary: Round trip is 116.738 usec
)"
	"sockperf: \x1b[2;35mTotal 4708 observations\x1b[0m; each percentile contains 47.08 observations\n"
	R"(sockperf: ---> <MAX> observation = 4647.169
sockperf: ---> percentile 99.999 = 4647.169
sockperf: ---> percentile 99.990 = 4647.169
sockperf: ---> percentile 99.900 = 4241.694
sockperf: ---> percentile 99.000 = 3001.947
sockperf: ---> percentile 90.000 =   71.322
sockperf: ---> percentile 75.000 =   59.510
sockperf: ---> percentile 50.000 =   52.928
sockperf: ---> percentile 25.000 =   49.852
sockperf: ---> <MIN> observation =   38.251
)";

// What fio 3.33 wrote, but for fields that nobody asks for.
const std::string kFio = R"({
  "fio version" : "fio-3.33",
  "timestamp" : 1795254817,
  "jobs" : [
    {
      "jobname" : "c",
      "error" : 106,
      "read" : {
        "total_ios" : 0,
        "clat_ns" : { "min" : 0, "max" : 0, "mean" : 0.000000, "stddev" : 0.000000, "N" : 0 }
      },
      "write" : {
        "runtime" : 1002,
        "total_ios" : 7290,
        "slat_ns" : { "min" : 0, "max" : 0, "mean" : 0.000000, "stddev" : 0.000000, "N" : 0 },
        "clat_ns" : {
          "min" : 26870,
          "max" : 12626731,
          "mean" : 136627.304664,
          "stddev" : 629370.845956,
          "N" : 7290,
          "percentile" : {
            "50.000000" : 38656
          }
        }
      }
    }
  ]
}
)";

std::string replaced(std::string text, const std::string &what, const std::string &with)
{
	const size_t at = text.find(what);
	EXPECT_NE(at, std::string::npos) << what;
	return text.replace(at, what.size(), with);
}

TEST(Sockperf, TellsRoundTrips)
{
	const auto report = parse_sockperf(kSockperf);
	ASSERT_TRUE(report);
	EXPECT_DOUBLE_EQ(report->round_trip_ns, 52928);
	EXPECT_EQ(report->trips, 4708u);
	EXPECT_EQ(report->version, "3.7-no.git");
}

TEST(Sockperf, TellsHalfOfThemWithoutFullRtt)
{
	std::string halves = replaced(kSockperf, "Summary: Round trip is", "Summary: Latency is");
	halves = replaced(halves, "avg-rtt", "avg-latency");
	EXPECT_DOUBLE_EQ(parse_sockperf(halves)->round_trip_ns, 2 * 52928);
}

TEST(Sockperf, MeasuredNothingWhereMessagesWentAstray)
{
	for (const std::string fault : {"dropped", "duplicated", "out-of-order"})
		EXPECT_FALSE(parse_sockperf(replaced(kSockperf, fault + " messages = 0", fault + " messages = 1"))) << fault;
}

TEST(Sockperf, MeasuredNothingWhereItSaysSo)
{
	EXPECT_FALSE(parse_sockperf(""));
	EXPECT_FALSE(parse_sockperf("sockperf: No messages were received from the server. Is the server down?\n"));
	EXPECT_FALSE(parse_sockperf(replaced(kSockperf, "   52.928", "    0.000")));
	EXPECT_FALSE(parse_sockperf(replaced(kSockperf, "   52.928", "      nan")));
	EXPECT_FALSE(parse_sockperf(replaced(kSockperf, "   52.928", "  -52.928")));
}

TEST(Fio, TellsRoundTrips)
{
	const auto report = parse_fio(kFio);
	ASSERT_TRUE(report);
	EXPECT_DOUBLE_EQ(report->round_trip_ns, 38656);
	EXPECT_EQ(report->trips, 7290u);
	EXPECT_EQ(report->version, "fio-3.33");
	EXPECT_DOUBLE_EQ(parse_fio("note: a warning comes first\n" + kFio + "fio: so does an error\n")->round_trip_ns,
					 38656);
}

TEST(Fio, MeasuredNothingWhereItSaysSo)
{
	EXPECT_FALSE(parse_fio(""));
	EXPECT_FALSE(parse_fio("fio: connect: Connection refused\n"));
	EXPECT_FALSE(parse_fio(replaced(kFio, "\"total_ios\" : 7290", "\"total_ios\" : 0")));
	EXPECT_FALSE(parse_fio(replaced(kFio, "38656", "\"38656\"")));
	EXPECT_FALSE(parse_fio(replaced(kFio, "50.000000", "90.000000")));
}

// Whatever is cut off: the report that the whole has, or none. Whatever is damaged: one that can be true, or none.
TEST(Reports, AreNeverNonsense)
{
	const auto look = [](const std::string &text) {
		for (const auto &report : {parse_sockperf(text), parse_fio(text)})
			if (report) {
				EXPECT_GT(report->round_trip_ns, 0);
				EXPECT_GT(report->trips, 0u);
			}
	};
	for (size_t cut = 0; cut < kSockperf.size(); cut++)
		EXPECT_DOUBLE_EQ(parse_sockperf(kSockperf.substr(0, cut)).value_or(RivalReport{52928, 1, ""}).round_trip_ns,
						 52928)
			<< cut;
	for (size_t cut = 0; cut + 2 < kFio.size(); cut++)
		EXPECT_FALSE(parse_fio(kFio.substr(0, cut))) << cut;
	for (const std::string &whole : {kSockperf, kFio})
		for (size_t at = 0; at < whole.size(); at++)
			for (const char other : {'\0', '\n', ' ', '-', '9', '{', '}', '"', '\xff'}) {
				std::string damaged = whole;
				damaged[at] = other;
				look(damaged);
			}
}

} // namespace
} // namespace icepath::bench
