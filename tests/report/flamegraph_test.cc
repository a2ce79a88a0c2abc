// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/flamegraph.h"

#include <gtest/gtest.h>
#include <sstream>

#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {
namespace {

size_t occurrences(const std::string &text, const std::string &part)
{
	size_t n = 0;
	for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
		++n;
	return n;
}

class FlamegraphTest : public testing::Test {
protected:
	FlamegraphTest()
	{
		write_small_run(temporary.path("run"));
		result = analyse(temporary.path("run"));
	}
	rundir::TemporaryDirectory temporary;
	RunResult result;
};

TEST_F(FlamegraphTest, WeightsAddUpToTheLatencyOfCompleteMessages)
{
	uint64_t latency = 0, weights = 0;
	for (const CellResult &cell : result.cells)
		latency += cell.layers.total_ns();
	std::istringstream lines(folded(stacks(result)));
	for (std::string line; std::getline(lines, line);)
		weights += std::stoull(line.substr(line.rfind(' ') + 1));
	EXPECT_GT(latency, 0u);
	EXPECT_EQ(weights, latency);
}

TEST_F(FlamegraphTest, StacksAreTargetPayloadLayerPartThread)
{
	const std::string text = folded(stacks(result));
	EXPECT_NE(text.find("uds-stream;64 B oneway block;sender.user;sender 240000\n"), std::string::npos) << text;
	EXPECT_NE(text.find("uds-stream;64 B oneway block;sender.kernel;notify;"), std::string::npos) << text;
	EXPECT_NE(text.find("uds-stream;64 B pingpong block;runqueue;initiator "), std::string::npos) << text;
}

TEST_F(FlamegraphTest, SvgIsDeterministicAndHasATitleForEachFrame)
{
	const std::string svg = flamegraph_svg(stacks(result), messages_of_cells(result), "a <title> & \"more\"");
	EXPECT_EQ(svg, flamegraph_svg(stacks(result), messages_of_cells(result), "a <title> & \"more\""));
	EXPECT_NE(svg.find("a &lt;title&gt; &amp; &quot;more&quot;"), std::string::npos);
	EXPECT_EQ(occurrences(svg, "<title>"), occurrences(svg, "</title>"));
	EXPECT_EQ(occurrences(svg, "<title>"), occurrences(svg, "<rect") - 1) << "all but the background";
	EXPECT_NE(svg.find("<title>uds-stream: "), std::string::npos);
	EXPECT_NE(svg.find("Width: nanoseconds on the path of messages, added up over the 3600 that have a complete path"),
			  std::string::npos)
		<< svg;
	EXPECT_NE(svg.find(", 100.0 %</title>"), std::string::npos);
	EXPECT_EQ(svg.find("<script"), std::string::npos);
}

TEST(Flamegraph, ChildrenLieWithinTheirParent)
{
	const Stacks two = {{{{"a"}, {"x", 0}}, 300}, {{{"a"}, {"y", 1}}, 100}, {{{"b"}, {"x", 0}}, 600}};
	const std::string svg = flamegraph_svg(two, {{{{"a"}, {"x"}}, 10}}, "t");
	EXPECT_NE(svg.find("<title>a: 400 ns in sum, 40.0 %</title><rect x=\"10.00\" y=\"80\" width=\"472.00\""),
			  std::string::npos)
		<< svg;
	EXPECT_NE(svg.find("<title>a → y: 100 ns in sum, 10.0 %</title><rect x=\"364.00\" y=\"62\" width=\"118.00\""),
			  std::string::npos)
		<< svg;
	EXPECT_NE(svg.find("<title>b: 600 ns in sum, 60.0 %</title><rect x=\"482.00\""), std::string::npos) << svg;
}

TEST(Flamegraph, AFrameTellsItsWholeWayAndItsTimePerMessageOfItsCell)
{
	const Stacks one = {{{{"a"}, {"64 B"}, {"wakeup", 5}, {"ipi", 5}}, 300}, {{{"a"}, {"4 KiB"}, {"wakeup", 5}}, 100}};
	const std::string svg = flamegraph_svg(one, {{{{"a"}, {"64 B"}}, 10}, {{{"a"}, {"4 KiB"}}, 50}}, "t");
	EXPECT_NE(svg.find("<title>all messages with a complete path: 400 ns in sum, 100.0 %<"), std::string::npos) << svg;
	EXPECT_NE(svg.find("<title>a → 64 B: 300 ns in sum, 30 ns a message, 75.0 %<"), std::string::npos) << svg;
	EXPECT_NE(svg.find("<title>a → 64 B → wakeup → ipi: 300 ns in sum, 30 ns a message, 75.0 %<"), std::string::npos);
	EXPECT_NE(svg.find("<title>a → 4 KiB → wakeup: 100 ns in sum, 2 ns a message, 25.0 %<"), std::string::npos);
}

TEST(Flamegraph, WithoutStacksIsEmptyAndWhole)
{
	EXPECT_EQ(folded({}), "");
	const std::string svg = flamegraph_svg({}, {}, "nothing");
	EXPECT_NE(svg.find("</svg>"), std::string::npos);
}

TEST(Folded, NamesCantBreakALine)
{
	RunResult result;
	CellResult cell;
	cell.cell.target = "a;b c";
	path::Observations seen;
	seen.threads[1].name = "x;y 12";
	path::Path path;
	path.recv_ns = 7;
	path::Segment segment;
	segment.thread = 1;
	segment.end.at_ns = 7;
	path.segments = {segment};
	cell.layers.add(path, seen);
	result.cells.push_back(cell);
	EXPECT_EQ(folded(stacks(result)), "a:b c;64 B pingpong block;sender.user;x:y 12 7\n");
	result.cells.push_back(cell);
	EXPECT_EQ(folded(stacks(result)), "a:b c;64 B pingpong block;sender.user;x:y 12 14\n") << "the same stack twice";
}

} // namespace
} // namespace icepath::report
