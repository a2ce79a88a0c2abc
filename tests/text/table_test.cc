// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/table.h"

#include <gtest/gtest.h>

namespace icepath::text {
namespace {

using Lines = std::vector<std::string>;

constexpr Look kUnicode{false, true};

TEST(Table, ColumnsAreAsWideAsTheirWidestText)
{
	Table table({{}, {Side::Right}, {}});
	table.add({"a", "±10", "x"});
	table.add({"long", "1"});
	EXPECT_EQ(table.lines(kUnicode), (Lines{"  a     ±10  x", "  long    1"})) << "no blanks at the end";
}

TEST(Table, WidthsAndGapsMayBeGiven)
{
	Table table({{Side::Left, 4, 0}, {Side::Right, 3, 1}});
	table.add({"a", "1"});
	EXPECT_EQ(table.lines(kUnicode), (Lines{"a      1"}));
}

TEST(Table, AColumnWithoutTextTakesNoRoom)
{
	Table table({{}, {}, {Side::Left, 3}, {}});
	table.add({"a", "", "", "b"});
	EXPECT_EQ(table.lines(kUnicode), (Lines{"  a       b"})) << "a least width is kept";
}

TEST(Table, AsciiIsAlignedAsItIsSpelled)
{
	Table table({{}, {Side::Right}});
	table.add({"p50", "±1"});
	table.add({"…", "10"});
	EXPECT_EQ(table.lines({}), (Lines{"  p50  +/-1", "  ...    10"}));
}

TEST(Table, OtherLinesAndWhatFollowsTheColumnsHaveNoWidth)
{
	Table table({{}, {}});
	table.add({"a", "b"}, "  and more");
	table.add_line("a longer line between");
	table.add({"c", "d"});
	EXPECT_EQ(table.lines(kUnicode), (Lines{"  a  b  and more", "a longer line between", "  c  d"}));
}

TEST(Table, DimsAColumnWithItsBlanks)
{
	Table table({{}, {Side::Right, 3, 2, true}});
	table.add({"a", "1"});
	EXPECT_EQ(table.lines({true, true}), (Lines{"  a  \033[2m  1\033[0m"}));
	EXPECT_EQ(table.lines(kUnicode), (Lines{"  a    1"}));
}

} // namespace
} // namespace icepath::text
