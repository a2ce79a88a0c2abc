// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/markdown.h"

#include <gtest/gtest.h>

namespace icepath::text {
namespace {

TEST(Markdown, HasNoMarkupOfATextsOwn)
{
	const std::string safe = markdown("<b>|`x`*y*_z_[a](b)@you#1~!\\&");
	for (const char c : std::string("<>|`*_[]()@~!\\"))
		EXPECT_EQ(safe.find(c), std::string::npos) << c;
	EXPECT_EQ(markdown("|"), "&#124;");
	EXPECT_EQ(markdown("2 µs"), "2 µs");
}

TEST(Markdown, CodeIsEnclosedByMoreBackticksThanItHas)
{
	EXPECT_EQ(markdown_code("ls"), "`ls`");
	EXPECT_EQ(markdown_code("a`b"), "`` a`b ``");
	EXPECT_EQ(markdown_code("```"), "```` ``` ````");
}

TEST(Markdown, LinesEndWhereThereIsNoMoreRoom)
{
	std::string page = "page\n";
	MarkdownLines lines(page, "head\n", "icepath compare", 400);
	for (int i = 0; i < 100; ++i)
		lines.add("0123456789\n");
	lines.end();
	EXPECT_LE(page.size(), 400u);
	EXPECT_EQ(page.find("page\nhead\n0123456789\n"), 0u);
	EXPECT_NE(page.find("\n74 more lines have no room here: icepath compare has them.\n"), std::string::npos) << page;
	std::string empty;
	MarkdownLines(empty, "head\n", "x", 400).end();
	EXPECT_EQ(empty, "");
}

} // namespace
} // namespace icepath::text
