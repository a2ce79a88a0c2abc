// SPDX-License-Identifier: Apache-2.0
#include "profiler/pages/markup.h"

#include <gtest/gtest.h>

namespace icepath::pages {
namespace {

TEST(Markup, TextIsNoMarkup) { EXPECT_EQ(escaped("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;'"); }

TEST(Markup, JsonInAScriptIsTheSameJsonWithoutMarkup)
{
	const nlohmann::ordered_json json = {{"<!--", "</script>&]]>"}};
	const std::string text = script_json(json);
	EXPECT_EQ(text.find_first_of("<>&"), std::string::npos) << text;
	EXPECT_EQ(nlohmann::ordered_json::parse(text), json);
}

TEST(Markup, TextIsCutToFitBetweenCharacters)
{
	EXPECT_EQ(fitted("abcdef", 6 + 6 * 7.25), "abcdef");
	EXPECT_EQ(fitted("äöüßab", 6 + 5 * 7.25), "äöüß…");
	EXPECT_EQ(fitted("abcdef", 6 + 3 * 7.25), "") << "too little to tell anything";
	EXPECT_EQ(fitted("abc", 6 + 3 * 7.25), "abc");
	EXPECT_EQ(fitted("abcdef", -1), "");
}

TEST(Markup, TextThatIsCutCanHaveItsEnd)
{
	EXPECT_EQ(fitted_with_end("cyclonedds/udp 64 B new-again", 190), "cyclonedds/udp… new-again");
	EXPECT_EQ(fitted_with_end("cyclonedds/udp 64 B nöü-again", 190), "cyclonedds/udp… nöü-again");
	EXPECT_EQ(fitted_with_end("cyclonedds/udp new", 190), "cyclonedds/udp new");
	EXPECT_EQ(fitted_with_end("abcdefghijklmn", 6 + 6 * 7.25), "abcde…") << "no room for both";
}

TEST(Markup, AxesHaveRoundValues)
{
	EXPECT_EQ(axis_values(10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
	EXPECT_EQ(axis_values(9.9, 10), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
	EXPECT_EQ(axis_values(110, 4), (std::vector<double>{0, 50, 100}));
	EXPECT_EQ(axis_values(0, 4), std::vector<double>{0});
	EXPECT_LE(axis_values(0.7, 8).size(), 9u);
}

TEST(Markup, EachKindHasAColour)
{
	for (const char *kind : {"kind-0", "kind-7"})
		EXPECT_NE(kind_rules().find(kind), std::string::npos);
}

} // namespace
} // namespace icepath::pages
