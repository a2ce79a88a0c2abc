// SPDX-License-Identifier: Apache-2.0
// The scripts that stand for bpftrace in a comparison use the tracepoints that the capture uses: no fewer, no more.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tests/bench/tracer_output.h"
#include "tests/folders.h"

namespace icepath::bench {
namespace {

std::set<std::string> tracepoints_of(const std::string &script)
{
	std::set<std::string> names;
	std::ifstream file(test::in_source("tools/") + script);
	const std::string begin = "tracepoint:";
	for (std::string line; std::getline(file, line);)
		if (line.starts_with(begin)) {
			const size_t name = line.find(':', begin.size()) + 1;
			names.insert(line.substr(name, line.find_first_of(", ", name) - name));
		}
	return names;
}

TEST(TracerScripts, UseTheTracepointsOfTheCapture)
{
	const std::vector<std::string> captured = captured_tracepoints();
	const std::set<std::string> wanted(captured.begin(), captured.end());
	EXPECT_TRUE(wanted.contains("sched_switch"));
	EXPECT_FALSE(wanted.contains("sys_enter")) << "the capture of a UNIX socket has no probe on system calls";
	EXPECT_EQ(tracepoints_of("record.bt"), wanted);
	EXPECT_EQ(tracepoints_of("histograms.bt"), wanted);
}

TEST(TracerScripts, OfWakesUsesFour)
{
	const std::set<std::string> wanted = {"sk_data_ready", "sched_waking", "sched_wakeup", "sched_switch"};
	EXPECT_EQ(tracepoints_of("wakes.bt"), wanted);
}

} // namespace
} // namespace icepath::bench
