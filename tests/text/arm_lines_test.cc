// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/arm_lines.h"

#include <gtest/gtest.h>

#include "profiler/model/arm_builds.h"
#include "profiler/pages/html_report.h"
#include "profiler/text/terminal.h"
#include "tests/report/one_screen.h"

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

TEST(ArmLines, DoNotTellAFileThatAllHad)
{
	std::vector<model::Arm> arms = two_builds();
	arms[0].loaded.push_back({"b", "/lib/libm.so.6", "", "m"}); // of b nothing else was told of this arm
	arms[1].loaded.push_back({"a", "/lib/libm.so.6", "", "m"});
	arms[2].loaded.push_back({"a", "/lib/libm.so.6", "", "m"});
	arms[1].loaded.push_back({"c", "/lib/libc.so.6", "", "c"}); // of c nothing is known of the others
	arms[1].loaded.push_back({"c", "/lib/libm.so.5", "", "m"});
	EXPECT_EQ(arm_texts(arms)[0], "old: lib=/old · loaded /old/liba.so (a 1) build-id 0123456789ab");
	EXPECT_EQ(arm_texts(arms)[1], "new: lib=/new · env=A=1 · loaded /new/liba.so without a build-id");
	arms[1].loaded.push_back({"a", "/lib/libz.so", "", "z"});
	EXPECT_NE(arm_texts(arms)[1].find("/lib/libz.so"), std::string::npos) << "it alone has it";
}

TEST(ArmLines, SayThatTwoTargetsHadBuildsTheOtherWayRound)
{
	std::vector<model::Arm> arms = two_builds();
	arms[0].loaded = {{"a", "/old/liba.so", "", "1"}, {"b", "/new/liba.so", "", "2"}};
	arms[1].loaded = {{"a", "/new/liba.so", "", "2"}, {"b", "/old/liba.so", "", "1"}};
	arms[2].loaded = arms[0].loaded;
	EXPECT_NE(arm_texts(arms)[0].find("loaded /old/liba.so build-id 1"), std::string::npos) << arm_texts(arms)[0];
}

// Else a comparison of a build with itself looks like one of two.
TEST(ArmLines, SayThatNothingDiffers)
{
	std::vector<model::Arm> arms = two_builds();
	arms[1].loaded = arms[0].loaded;
	EXPECT_EQ(arm_texts(arms)[1],
			  "new: lib=/new · env=A=1 · loaded the same builds as every other arm · no file of /new was loaded");
	arms[1].loaded[1].path = "/new/liba.so";
	EXPECT_NE(arm_texts(arms)[1].find("loaded the same builds as every other arm"), std::string::npos)
		<< "its build-id is the same: " << arm_texts(arms)[1];
	EXPECT_TRUE(model::is_one_build(arms[0], arms[1]));
	EXPECT_FALSE(model::is_one_build({.name = "a", .loaded = arms[0].loaded}, {.name = "b", .loaded = arms[0].loaded}))
		<< "of configurations it is as it should be";
	EXPECT_FALSE(model::is_one_build(two_builds()[0], two_builds()[1]));
	arms[1].loaded.clear();
	EXPECT_FALSE(model::is_one_build(arms[0], arms[1])) << "what it loaded isn't known";
	EXPECT_EQ(arm_texts(arms)[1], "new: lib=/new · env=A=1 · what it loaded isn't known");
	EXPECT_EQ(arm_texts({{.name = "default"}})[0],
			  "default: as icepath has it without --arm · what it loaded isn't known");
}

// What a page or a terminal shows of cells has the names of their arms, and says what these are.
TEST(ArmLines, AreInEveryReport)
{
	std::vector<analysis::CellResult> cells;
	for (const std::string arm : {"old", "new"}) {
		cells.push_back(made_cell("pipe", {{model::Layer::SenderKernel, model::Part::None, 1000}}));
		cells.back().cell.arm = arm;
		cells.back().cell.summary = "as " + arm + " does it";
	}
	analysis::RunResult result = made_run(cells);
	result.head.arms = two_builds();
	const std::string page = pages::html_report(result);
	for (const std::string &text : arm_texts(result.head.arms))
		EXPECT_NE(page.find("<li>" + text + "</li>"), std::string::npos) << text;
	for (const std::string name : {"pipe old", "pipe new"}) {
		EXPECT_NE(page.find(">" + name + "</text>"), std::string::npos) << "the picture";
		EXPECT_NE(page.find("<th scope=\"row\">" + name + "</th>"), std::string::npos) << "the table";
		EXPECT_NE(page.find("\"name\":\"" + name + "\""), std::string::npos) << "the curves";
	}
	const Style full{.unicode = true, .width = 100, .verbose = true};
	std::string text = terminal_report(result, full);
	EXPECT_NE(text.find("targets   pipe old: as old does it\n          pipe new: as new does it\n"), std::string::npos)
		<< text;
	result.cells[1].cell.summary = result.cells[0].cell.summary;
	text = terminal_report(result, full);
	EXPECT_NE(text.find("targets   pipe: as old does it\n\n"), std::string::npos) << text;
}

TEST(ArmLines, ArePrintable)
{
	const std::string text = arm_texts({{.name = "a", .config = "/x\x1b[1m", .environment = {{"A", "\n"}}}})[0];
	EXPECT_EQ(text.find('\x1b'), std::string::npos);
	EXPECT_EQ(text.find('\n'), std::string::npos);
}

} // namespace
} // namespace icepath::text
