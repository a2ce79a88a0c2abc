// SPDX-License-Identifier: Apache-2.0
// Files of flame graphs whose stacks are deep and many. What goes through a tree more than once for each of its frames
// doesn't end here: two visits of each child are 2^depth of the last one.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "profiler/exports/firefox_profile.h"
#include "profiler/exports/flame_files.h"
#include "profiler/pages/flame_svg.h"

namespace icepath::exports {
namespace {

using Json = nlohmann::json;

constexpr size_t kDepth = 1000, kStacks = 100;

// A stack of `kDepth` frames, whose innermost one is of `kind`.
analysis::FlameFrame deep(size_t number, analysis::LayerKind kind)
{
	analysis::FlameFrame frame{.name = "last", .kind = kind, .mean_ns = 10, .total_ns = 10};
	for (size_t i = 1; i < kDepth; ++i) {
		analysis::FlameFrame outer{.name = "f" + std::to_string(number) + "_" + std::to_string(i)};
		outer.children.push_back(std::move(frame));
		frame = std::move(outer);
	}
	return frame;
}

analysis::FlameGraph deep_graph()
{
	analysis::FlameFrame cell{.name = "a 64 B"};
	for (size_t i = 0; i < kStacks; ++i)
		cell.children.push_back(deep(i, analysis::LayerKind::Kernel));
	analysis::FlameGraph graph;
	graph.cells.push_back({{.target = "a"}, "a", "64 B", std::move(cell)});
	return graph;
}

TEST(DeepStacks, AFirefoxProfileHasEachFrameOnce)
{
	const Json profile = Json::parse(firefox_profile(deep_graph(), "t"));
	const Json &thread = profile["threads"][0];
	EXPECT_EQ(thread["stackTable"]["length"], kDepth * kStacks);
	EXPECT_EQ(thread["samples"]["length"], kStacks);
	const Json &categories = thread["stackTable"]["category"];
	EXPECT_TRUE(std::ranges::all_of(
		categories, [](const Json &one) { return one == static_cast<size_t>(analysis::LayerKind::Kernel); }));
}

// Above the place where kinds part, a frame is of none.
TEST(DeepStacks, AFrameOfSeveralKindsHasTheCategoryOther)
{
	analysis::FlameFrame both{.name = "both"};
	both.children.push_back(deep(0, analysis::LayerKind::Kernel));
	both.children.push_back(deep(1, analysis::LayerKind::Waking));
	both.children.push_back(deep(2, analysis::LayerKind::Kernel));
	analysis::FlameGraph graph;
	graph.cells.push_back({{.target = "a"}, "a", "64 B", {.name = "a 64 B"}});
	graph.cells[0].layers.children.push_back(std::move(both));
	const Json profile = Json::parse(firefox_profile(graph, "t"));
	const Json &categories = profile["threads"][0]["stackTable"]["category"];
	const size_t other = profile["meta"]["categories"].size() - 1;
	EXPECT_EQ(profile["meta"]["categories"][other]["name"], "Other");
	EXPECT_EQ(categories[0], other);
	EXPECT_EQ(categories[1], static_cast<size_t>(analysis::LayerKind::Kernel));
	EXPECT_EQ(categories[1 + kDepth], static_cast<size_t>(analysis::LayerKind::Waking));
	EXPECT_EQ(std::ranges::count(categories, Json(other)), 1);
}

TEST(DeepStacks, FoldedStacksAndSpeedscopeHaveEachStackOnce)
{
	const std::string lines = folded(deep_graph());
	EXPECT_EQ(std::ranges::count(lines, '\n'), kStacks);
	EXPECT_EQ(std::ranges::count(lines, ';'), kStacks * (kDepth + 1)) << "target and variant are frames as well";
	const Json file = Json::parse(speedscope(deep_graph(), "t"));
	EXPECT_EQ(file["profiles"][0]["samples"].size(), kStacks);
	EXPECT_EQ(file["profiles"][0]["samples"][7].size(), kDepth);
}

TEST(DeepStacks, APictureHasARectangleForEachFrame)
{
	const std::string svg = pages::flame_svg(deep_graph(), "t");
	size_t rectangles = 0;
	for (size_t at = svg.find("<g class=\"kind-"); at != std::string::npos; at = svg.find("<g class=\"kind-", at + 1))
		++rectangles;
	EXPECT_EQ(rectangles, kDepth * kStacks);
}

} // namespace
} // namespace icepath::exports
