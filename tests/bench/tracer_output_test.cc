// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tracer_output.h"

#include <gtest/gtest.h>

namespace icepath::bench {
namespace {

TEST(TracerOutput, SumsTheHistogramsOfBpftrace)
{
	EXPECT_EQ(events_in_histograms("Attaching 5 probes...\n@softirqs: 3\n\n@waking_to_wakeup: \n"
								   "[0]                    2 |@@@             |\n"
								   "[512, 1K)         171224 |@@@@@@@@@@@@@@@@|\n"
								   "[1K, 2K)               1 |                |\n"),
			  171227u);
	EXPECT_EQ(events_in_histograms("Attaching 5 probes...\n"), 0u);
}

TEST(TracerOutput, CountsWhatBpftracePrinted)
{
	EXPECT_EQ(events_in_lines("Attaching 20 probes...\n1234 7\n1240 8\nLost 3 events\n"), 2u);
	EXPECT_EQ(events_in_lines(""), 0u);
}

TEST(TracerOutput, SumsTheThreadsOfPerfTrace)
{
	EXPECT_EQ(
		events_in_summary(" Summary of events:\n\n python3 (15786), 42659 events, 50.0%\n\n"
						  "   recvfrom           10665      0   756.115     0.000     0.071     2.479      0.62%\n"
						  " python3 (15828), 42660 events, 50.0%\n"),
		85319u);
	EXPECT_EQ(events_in_summary("Error: no permission\n"), 0u);
}

TEST(TracerOutput, CountsWhatTheKernelsRingBufferOverwrote)
{
	EXPECT_EQ(events_in_ring_buffer("entries: 12\noverrun: 3\ncommit overrun: 9\nbytes: 1410\n"), 15u);
	EXPECT_EQ(events_in_ring_buffer(""), 0u);
}

} // namespace
} // namespace icepath::bench
