// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/printable.h"

#include <gtest/gtest.h>

namespace icepath::model {
namespace {

TEST(Printable, LeavesTextAlone)
{
	for (const std::string text :
		 {"", "kworker/1:2-µ±→█", "C:\\new \\x1b", "名前", "\u0645\u0631\u062d\u0628\u0627", "a b"})
		EXPECT_EQ(printable(text), text);
}

TEST(Printable, WritesControlsAsCDoes)
{
	EXPECT_EQ(printable("a\033[2Jb\n\r\tc\x7f"), "a\\x1b[2Jb\\n\\x0d\\tc\\x7f");
	EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
	EXPECT_EQ(printable("\u009b"
						"31m"),
			  "\\x9b31m")
		<< "the one-byte CSI of C1";
}

TEST(Printable, WritesWhatTurnsOrHidesTextAsCDoes)
{
	EXPECT_EQ(printable("\u202egpj.exe"), "\\u202egpj.exe");
	EXPECT_EQ(printable("\u061c\u200e\u200f\u2066\u2069\ufeff\u00ad\u2028"),
			  "\\u061c\\u200e\\u200f\\u2066\\u2069\\ufeff\\xad\\u2028");
	EXPECT_EQ(printable("\U000e0041"), "\\U000e0041") << "a tag";
}

TEST(Printable, ShowsEachByteThatIsNoUtf8)
{
	EXPECT_EQ(printable("\xc3\x1b["), "\\xc3\\x1b[") << "a character cut short hides nothing";
	EXPECT_EQ(printable("\xff\xfe\x80"), "\\xff\\xfe\\x80");
	EXPECT_EQ(printable("x\xe2\x82"), "x\\xe2\\x82");
	EXPECT_EQ(printable("\xc0\x9b\xe0\x80\x9b"), "\\xc0\\x9b\\xe0\\x80\\x9b") << "longer forms of C1";
	EXPECT_EQ(printable("\xed\xa0\x80\xf4\x90\x80\x80"), "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80")
		<< "a surrogate, and beyond the last character";
}

TEST(Printable, IsCutWithAMark)
{
	EXPECT_EQ(printable("abcd", 4), "abcd");
	EXPECT_EQ(printable("abcde", 4), "abc…");
	EXPECT_EQ(printable("µµµµµ", 4), "µµµ…");
	EXPECT_EQ(printable("ab\033", 5), "ab…") << "no half of an escape";
	EXPECT_EQ(printable(std::string(10'000, 'x'), kLongestName).size(), kLongestName - 1 + std::string("…").size());
}

TEST(Printable, IsNotChangedAgain)
{
	std::string all;
	for (int c = 0; c < 256; ++c)
		all += static_cast<char>(c);
	const std::string once = printable(all + "\u202e", 300);
	EXPECT_EQ(printable(once, 300), once);
	EXPECT_EQ(printable_page(once), once);
}

TEST(PrintablePage, KeepsLinesAndTheColoursOfIcepathOnly)
{
	const std::string own = "\033[1mhead\033[0m\n\tx \033[38;5;214m█\033[0m \033[33mwarn\033[0m\n";
	EXPECT_EQ(printable_page(own), own);
	EXPECT_EQ(printable_page("\033[8mhidden\033[2J\033]0;t\a\033[38;5;m\r\n"),
			  "\\x1b[8mhidden\\x1b[2J\\x1b]0;t\\x07\\x1b[38;5;m\\x0d\n");
	EXPECT_EQ(printable_page("\033["), "\\x1b[");
}

} // namespace
} // namespace icepath::model
