// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/arm_lines.h"

#include <gtest/gtest.h>

namespace icepath::text {
namespace {

const std::string kId = "0123456789abcdef";

std::vector<model::Arm> two_builds()
{
	return {
		{.name = "old",
		 .library_path = "/old",
		 .loaded = {{"a", "/lib/libc.so.6", "", "c"}, {"a", "/old/liba.so", "a 1", kId}}},
		{.name = "new",
		 .library_path = "/new",
		 .environment = {{"A", "1"}},
		 .loaded = {{"a", "/lib/libc.so.6", "", "c"}, {"a", "/new/liba.so", "", ""}, {"b", "/new/liba.so", "", ""}}},
		{.name = "old-again",
		 .is_control = true,
		 .library_path = "/old",
		 .loaded = {{"a", "/lib/libc.so.6", "", "c"}, {"a", "/old/liba.so", "a 1", kId}}}};
}

TEST(ArmLines, SayWhatEachLoadedThatAnotherHadNot)
{
	EXPECT_EQ(arm_texts(two_builds()),
			  (std::vector<std::string>{
				  "old: lib=/old · loaded /old/liba.so (a 1) build-id 0123456789ab",
				  "new: lib=/new · env=A=1 · loaded /new/liba.so without a build-id",
				  "old-again: old once more, as the control: what differs between the two isn't due to a build"}));
}

TEST(ArmLines, SayThatAFileOfOneNameIsOfAnotherBuild)
{
	std::vector<model::Arm> arms = two_builds();
	arms[1].loaded = arms[0].loaded;
	arms[1].loaded[1].build_id = "f";
	EXPECT_NE(arm_texts(arms)[1].find("loaded /old/liba.so (a 1) build-id f"), std::string::npos) << arm_texts(arms)[1];
}

// Else a comparison of a build with itself looks like one of two.
TEST(ArmLines, SayThatNothingDiffers)
{
	std::vector<model::Arm> arms = two_builds();
	arms[1].loaded = arms[0].loaded;
	EXPECT_EQ(arm_texts(arms)[1],
			  "new: lib=/new · env=A=1 · loaded the same files as every other arm · no file of /new was loaded");
	arms[1].loaded.clear();
	EXPECT_EQ(arm_texts(arms)[1], "new: lib=/new · env=A=1 · what it loaded isn't known");
	EXPECT_EQ(arm_texts({{.name = "default"}})[0],
			  "default: as icepath has it without --arm · what it loaded isn't known");
}

TEST(ArmLines, ArePrintable)
{
	const std::string text = arm_texts({{.name = "a", .config = "/x\x1b[1m", .environment = {{"A", "\n"}}}})[0];
	EXPECT_EQ(text.find('\x1b'), std::string::npos);
	EXPECT_EQ(text.find('\n'), std::string::npos);
}

} // namespace
} // namespace icepath::text
