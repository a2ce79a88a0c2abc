// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/arm_option.h"

#include <gtest/gtest.h>

#include "profiler/failure.h"
#include "profiler/rundir/limits.h"

namespace icepath::cli {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

std::string complaint(const std::vector<std::string> &texts)
{
	try {
		arms_of(texts, true);
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		return failure.what();
	}
	return "";
}

TEST(ArmOption, HasItsParts)
{
	const std::vector<model::Arm> arms =
		arms_of({"old:plugins=/a b/lib,lib=/a,config=c.xml", "new-2:env=A=1,env=B=x=,lib=/b"}, false);
	ASSERT_EQ(arms.size(), 2u);
	EXPECT_EQ(arms[0], (model::Arm{.name = "old", .plugins = "/a b/lib", .library_path = "/a", .config = "c.xml"}));
	EXPECT_EQ(arms[1], (model::Arm{.name = "new-2", .library_path = "/b", .environment = {{"A", "1"}, {"B", "x="}}}));
}

TEST(ArmOption, ACommaThatNoKeyFollowsBelongsToTheValue)
{
	const std::vector<model::Arm> arms = arms_of({"a:env=URI=file:///x,<C/>,file:///y,lib=/some,thing"}, false);
	EXPECT_EQ(arms[1].environment, (Variables{{"URI", "file:///x,<C/>,file:///y"}}));
	EXPECT_EQ(arms[1].library_path, "/some,thing");
}

// Lists of paths have ':', lists of settings ',' and '='.
TEST(ArmOption, AVariableHasAnyValueWithoutAKey)
{
	const std::vector<model::Arm> arms =
		arms_of({"a:env=PATHS=/a:/b c;d,env=SETTINGS=x=1,y=2,environment=3,z:=4,config=/c.xml,env=EMPTY="}, false);
	EXPECT_EQ(arms[1].environment,
			  (Variables{{"PATHS", "/a:/b c;d"}, {"SETTINGS", "x=1,y=2,environment=3,z:=4"}, {"EMPTY", ""}}));
	EXPECT_EQ(arms[1].config, "/c.xml");
}

TEST(ArmOption, TheFirstOneComesAgainAsTheControl)
{
	EXPECT_TRUE(arms_of({}, true).empty());
	std::vector<model::Arm> arms = arms_of({"a:lib=/a", "b:lib=/b"}, true);
	ASSERT_EQ(arms.size(), 3u);
	EXPECT_EQ(arms[2], (model::Arm{.name = "a-again", .is_control = true, .library_path = "/a"}));
	arms = arms_of({"b:lib=/b"}, true);
	ASSERT_EQ(arms.size(), 3u);
	EXPECT_EQ(arms[0], (model::Arm{.name = "default"}));
	EXPECT_EQ(arms[2], (model::Arm{.name = "default-again", .is_control = true}));
	EXPECT_EQ(arms_of({"b:lib=/b"}, false).size(), 2u);
}

TEST(ArmOption, WrongOnesAreRefusedWithTheReason)
{
	for (const auto &[text, why] : {
			 std::pair{"", "an arm's name has letters"},
			 {"a b:lib=/a", "an arm's name has letters"},
			 {"a", "say what it is made of"},
			 {"a:", "say what it is made of"},
			 {"a:libs=/a", "\"libs=/a\" isn't one of plugins=FOLDER"},
			 {"a:lib", "lib= has no value"},
			 {"a:lib=/a,confg=/b", "\"confg=/b\" isn't one of"},
			 {"a:lib=", "lib= has no value"},
			 {"a:lib=/a,lib=/b", "lib= is there twice"},
			 {"a:env=A", "say env=NAME=VALUE"},
			 {"a:env==1", "say env=NAME=VALUE"},
			 {"a:env=A:B=1", "env=A:B: a variable's name has letters, digits and '_'"},
			 {"a:env=A=1,env=A=2", "env=A is there twice"},
			 {"a:env=LD_LIBRARY_PATH=/a", "say lib=FOLDER"},
			 {"a:env=ICEPATH_PLUGIN_PATH=/a", "say plugins=FOLDER"},
			 {"default:lib=/a", "two arms of a run have that name"},
		 })
		EXPECT_NE(complaint({text}).find(why), std::string::npos) << text << ": " << complaint({text});
	EXPECT_NE(complaint({"a:lib=/a", "a:lib=/b"}).find("two arms"), std::string::npos);
	EXPECT_NE(complaint({"a:lib=/a", "a-again:lib=/b"}).find("two arms"), std::string::npos);
	std::vector<std::string> many;
	for (size_t i = 0; i <= rundir::kMaxArms; ++i)
		many.push_back("a" + std::to_string(i) + ":lib=/a");
	EXPECT_NE(complaint(many).find("arms are more than"), std::string::npos);
	EXPECT_NE(complaint({std::string(model::kLongestArmName, 'a') + ":lib=/a"}), "") << "its control has no name";
}

} // namespace
} // namespace icepath::cli
