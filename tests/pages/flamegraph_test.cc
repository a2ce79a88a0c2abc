// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "profiler/analysis/analyse.h"
#include "profiler/analysis/flamegraph.h"
#include "profiler/analysis/layer_style.h"
#include "profiler/exports/flame_files.h"
#include "profiler/pages/flame_svg.h"
#include "tests/report/one_screen.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::pages {
namespace {

constexpr auto kAll = analysis::FlameMessages::All;

size_t occurrences(const std::string &text, const std::string &part)
{
	size_t n = 0;
	for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
		++n;
	return n;
}

analysis::FlameFrame last(const std::string &name, analysis::LayerKind kind, double ns)
{
	return {.name = name, .kind = kind, .mean_ns = ns};
}

analysis::FlameCell cell_with(const std::string &name, std::vector<analysis::FlameFrame> children)
{
	return {{.target = name}, name, "64 B", {.name = name + " 64 B", .children = std::move(children)}};
}

class FlamegraphTest : public testing::Test {
protected:
	FlamegraphTest()
	{
		write_small_run(temporary.path("run"), true, kEnoughRounds);
		result = analysis::analyse(temporary.path("run"));
	}
	rundir::TemporaryDirectory temporary;
	analysis::RunResult result;
};

TEST_F(FlamegraphTest, FoldedWeightsAddUpToTheLatencyOfCompleteMessages)
{
	uint64_t latency = 0, weights = 0;
	for (const analysis::CellResult &cell : result.cells)
		latency += cell.paths.layers.total_ns();
	std::istringstream lines(exports::folded(analysis::flame_graph(result, kAll, "")));
	for (std::string line; std::getline(lines, line);)
		weights += std::stoull(line.substr(line.rfind(' ') + 1));
	EXPECT_GT(latency, 0u);
	EXPECT_EQ(weights, latency);
}

TEST_F(FlamegraphTest, ACellIsAsWideAsItsMeanLatency)
{
	const analysis::FlameGraph graph = analysis::flame_graph(result, kAll, "");
	ASSERT_EQ(graph.cells.size(), 2u);
	for (size_t i = 0; i < 2; ++i)
		EXPECT_NEAR(graph.cells[i].layers.mean(), result.cells[i].paths.layers.mean_ns(), 1e-6);
}

TEST_F(FlamegraphTest, StacksAreTargetPayloadLayerPartThread)
{
	const std::string text = exports::folded(analysis::flame_graph(result, kAll, ""));
	EXPECT_NE(text.find("uds-stream;64 B oneway block;sender.user;sender 360000\n"), std::string::npos) << text;
	EXPECT_NE(text.find("uds-stream;64 B oneway block;sender.kernel;notify;"), std::string::npos) << text;
	EXPECT_NE(text.find("uds-stream;64 B pingpong block;runqueue;initiator (receiver) "), std::string::npos) << text;
}

TEST(Flamegraph, SaysThatAThreadIsWhereAMessageGoesNotWhoCarriesIt)
{
	const std::string text = exports::folded(
		analysis::flame_graph(made_run({made_cell("tcp", {{model::Layer::Network, model::Part::None, 700},
														  {model::Layer::Network, model::Part::Notify, 50},
														  {model::Layer::Wakeup, model::Part::None, 300}})}),
							  kAll, ""));
	EXPECT_NE(text.find(";network;to "), std::string::npos) << text;
	EXPECT_EQ(text.find(";network;notify;to "), std::string::npos) << text;
	EXPECT_EQ(text.find(";wakeup;to "), std::string::npos) << text;
}

TEST_F(FlamegraphTest, HasTheCellsOfATitle)
{
	const analysis::FlameGraph graph = analysis::flame_graph(result, kAll, "64 B pingpong");
	ASSERT_EQ(graph.cells.size(), 1u);
	EXPECT_EQ(graph.cells[0].layers.name, "uds-stream 64 B pingpong block");
	EXPECT_TRUE(analysis::flame_graph(result, kAll, "tcp").cells.empty());
}

TEST_F(FlamegraphTest, TheTailIsOfTheSlowestMessages)
{
	const analysis::FlameGraph tail = analysis::flame_graph(result, analysis::FlameMessages::Tail, "pingpong");
	ASSERT_EQ(tail.cells.size(), 1u);
	ASSERT_TRUE(result.cells[0].ranges.tail);
	EXPECT_NEAR(tail.cells[0].layers.mean(), result.cells[0].ranges.tail->layers.mean_ns(), 1e-6);
}

TEST_F(FlamegraphTest, SvgIsDeterministicAndHasATitleForEachFrame)
{
	const analysis::FlameGraph graph = analysis::flame_graph(result, kAll, "");
	const std::string svg = flame_svg(graph, "a <title> & \"more\"");
	EXPECT_EQ(svg, flame_svg(graph, "a <title> & \"more\""));
	EXPECT_NE(svg.find("a &lt;title&gt; &amp; &quot;more&quot;"), std::string::npos);
	EXPECT_EQ(occurrences(svg, "<title>"), occurrences(svg, "</title>"));
	EXPECT_NE(svg.find("<title>uds-stream 64 B oneway block → sender.user: 200 ns of a message, "), std::string::npos);
	EXPECT_NE(svg.find("<title>uds-stream 64 B oneway block → sender.kernel → notify: 300 ns of a message, "),
			  std::string::npos);
	EXPECT_EQ(occurrences(svg, "<script"), 2u) << "data and code";
}

TEST(Flamegraph, ChildrenLieWithinTheirParentAndCellsShareAScale)
{
	const analysis::FlameGraph graph{
		{cell_with("a", {last("x", analysis::LayerKind::Kernel, 300), last("y", analysis::LayerKind::Waking, 100)}),
		 cell_with("b", {last("x", analysis::LayerKind::Kernel, 600)})},
		{},
		{},
		{}};
	const std::string svg = flame_svg(graph, "t");
	EXPECT_NE(
		svg.find(
			"a 64 B: 400 ns of a message, 100.0 % of its 400 ns</title><rect x=\"10.00\" y=\"108\" width=\"472.00\""),
		std::string::npos)
		<< svg.substr(0, 4000);
	EXPECT_NE(svg.find("a 64 B → y: 100 ns of a message, 25.0 % of its 400 ns</title><rect x=\"364.00\" y=\"128\" "
					   "width=\"118.00\""),
			  std::string::npos);
	EXPECT_NE(
		svg.find(
			"b 64 B: 600 ns of a message, 100.0 % of its 600 ns</title><rect x=\"482.00\" y=\"108\" width=\"708.00\""),
		std::string::npos);
}

// Else the picture of a stack of a hundred frames would repeat five thousand names.
TEST(Flamegraph, TheTitleOfADeepFrameLacksTheMiddle)
{
	analysis::FlameFrame frame = last("f12", analysis::LayerKind::Kernel, 300);
	for (int i = 11; i > 0; --i)
		frame = analysis::FlameFrame{"f" + std::to_string(i), {}, 0, 0, 0, {frame}};
	const std::string svg = flame_svg({{cell_with("a", {frame})}, {}, {}, {}}, "t");
	EXPECT_NE(svg.find(">a 64 B → f1 → f2 → f3 → f4 → f5 → f6 → f7 → f8 → f9: "), std::string::npos)
		<< svg.substr(0, 4000);
	EXPECT_NE(svg.find(">a 64 B → f1 → f2 → f3 → … → f8 → f9 → f10: "), std::string::npos) << svg.substr(0, 4000);
	EXPECT_NE(svg.find(">a 64 B → f1 → f2 → f3 → … → f10 → f11 → f12: "), std::string::npos) << svg.substr(0, 4000);
}

TEST(Flamegraph, ADifferenceShowsWhatVanished)
{
	const analysis::FlameGraph now{
		{cell_with("a", {last("x", analysis::LayerKind::Kernel, 300), last("y", analysis::LayerKind::Waking, 100)}),
		 cell_with("new", {last("x", analysis::LayerKind::Kernel, 1)})},
		{},
		{},
		{}};
	const analysis::FlameGraph before{
		{cell_with("a", {last("x", analysis::LayerKind::Kernel, 200), last("z", analysis::LayerKind::Queued, 600)}),
		 cell_with("old", {last("x", analysis::LayerKind::Kernel, 1)})},
		{},
		{},
		{}};
	const analysis::FlameGraph both = analysis::compared(now, before, "before");
	EXPECT_EQ(both.missing, (std::vector<std::string>{"new 64 B", "old 64 B"}));
	ASSERT_EQ(both.cells.size(), 1u);
	const analysis::FlameFrame &cell = both.cells[0].layers;
	EXPECT_EQ(cell.mean(), 400);
	EXPECT_EQ(cell.other(), 800);
	EXPECT_EQ(cell.width(), 300 + 100 + 600);
	const std::string svg = flame_svg(both, "t");
	EXPECT_NE(svg.find("<g class=\"shrank\" fill-opacity=\"1.00\"><title>a 64 B → z: -600 ns a message: 0 ns, and 600 "
					   "ns in before<"),
			  std::string::npos)
		<< svg.substr(0, 4000);
	EXPECT_NE(svg.find("<g class=\"grew\" fill-opacity=\"0.17\"><title>a 64 B → x: +100 ns a message: 300 ns, and 200 "
					   "ns in before<"),
			  std::string::npos);
	EXPECT_NE(svg.find("Only one run has: new 64 B, old 64 B"), std::string::npos);
}

// A title has neither rate nor idle states.
TEST(Flamegraph, CellsOfOneTitleThatDifferAreNotCompared)
{
	const auto graph_of = [](double rate_hz) {
		analysis::FlameCell cell = cell_with("a", {last("x", analysis::LayerKind::Kernel, 300)});
		cell.key.rate_hz = rate_hz;
		return analysis::FlameGraph{.cells = {cell}, .other = {}, .missing = {}, .differing = {}};
	};
	const analysis::FlameGraph both = analysis::compared(graph_of(100), graph_of(10'000), "before");
	EXPECT_TRUE(both.cells.empty());
	EXPECT_TRUE(both.missing.empty());
	EXPECT_EQ(both.differing, std::vector<std::string>{"a 64 B (rate: 100/s and 10000/s)"});
	EXPECT_NE(flame_svg(both, "t").find("Not compared, because they differ: a 64 B (rate: 100/s and 10000/s)"),
			  std::string::npos);
	EXPECT_EQ(analysis::compared(graph_of(100), graph_of(100), "before").cells.size(), 1u);
}

TEST(Flamegraph, WithoutStacksIsEmptyAndWhole)
{
	EXPECT_EQ(exports::folded({}), "");
	EXPECT_NE(flame_svg({}, "nothing").find("</svg>"), std::string::npos);
}

// A path of one segment, of 7 ns.
analysis::CellResult cell_of_names(const std::string &target, const std::string &thread)
{
	analysis::CellResult cell;
	cell.cell.target = target;
	path::Observations seen;
	seen.threads[1].name = thread;
	path::Path path;
	path.recv_ns = 7;
	path::Segment segment;
	segment.thread = 1;
	segment.end.at_ns = 7;
	path.segments = {segment};
	cell.paths.layers.add(path, seen);
	return cell;
}

TEST(Folded, NamesCantBreakALine)
{
	analysis::RunResult result;
	result.cells = {cell_of_names("a;b c", "x;y 12")};
	EXPECT_EQ(exports::folded(analysis::flame_graph(result, kAll, "")),
			  "a:b c;64 B pingpong block;sender.user;x:y 12 (sender) 7\n");
	result.cells.push_back(result.cells[0]);
	EXPECT_EQ(exports::folded(analysis::flame_graph(result, kAll, "")),
			  "a:b c;64 B pingpong block;sender.user;x:y 12 (sender) 14\n")
		<< "the same stack twice";
}

TEST(Flamegraph, OfATargetIsNotOfOthersWithItsName)
{
	analysis::RunResult result;
	result.cells = {cell_of_names("library/udp", "thread"), cell_of_names("udp", "thread")};
	ASSERT_EQ(analysis::flame_graph(result, kAll, "64 B").cells.size(), 2u);
	const analysis::FlameGraph graph = analysis::flame_graph(result, kAll, "udp");
	ASSERT_EQ(graph.cells.size(), 1u) << "as --cell of the other commands";
	EXPECT_EQ(graph.cells[0].layers.name, "udp 64 B pingpong block");
}

// The schema in words: https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources
TEST_F(FlamegraphTest, SpeedscopeHasAProfileForEachCell)
{
	const auto file = nlohmann::json::parse(exports::speedscope(analysis::flame_graph(result, kAll, ""), "title"));
	EXPECT_EQ(file.at("$schema"), "https://www.speedscope.app/file-format-schema.json");
	const size_t frames = file.at("shared").at("frames").size();
	for (const auto &frame : file["shared"]["frames"])
		EXPECT_TRUE(frame.at("name").is_string());
	ASSERT_EQ(file.at("profiles").size(), 2u);
	for (size_t i = 0; i < 2; ++i) {
		const auto &profile = file["profiles"][i];
		EXPECT_EQ(profile.at("type"), "sampled");
		EXPECT_EQ(profile.at("unit"), "nanoseconds");
		EXPECT_EQ(profile.at("startValue"), 0);
		EXPECT_TRUE(profile.at("name").is_string());
		ASSERT_EQ(profile.at("samples").size(), profile.at("weights").size());
		double sum = 0;
		for (const double weight : profile["weights"])
			sum += weight;
		EXPECT_NEAR(sum, result.cells[i].paths.layers.mean_ns(), 0.1);
		EXPECT_NEAR(sum, profile.at("endValue"), 0.1);
		for (const auto &sample : profile["samples"]) {
			EXPECT_GE(sample.size(), 2u) << "layer and thread";
			for (const size_t frame : sample)
				EXPECT_LT(frame, frames);
		}
	}
}

} // namespace
} // namespace icepath::pages
