// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/run_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "profiler/failure.h"

namespace icepath::run {
namespace {

namespace fs = std::filesystem;

class RunFolder : public testing::Test {
protected:
	void SetUp() override
	{
		std::string name = fs::temp_directory_path() / "icepath-test-XXXXXX";
		ASSERT_NE(mkdtemp(name.data()), nullptr);
		top = name;
	}
	void TearDown() override { fs::remove_all(top); }

	void file(const std::string &name) const { std::ofstream(top / name) << "x"; }

	// The message of the refusal; empty: the folder is accepted.
	std::string refusal(const std::string &name, bool with_parent = false) const
	{
		try {
			check_run_folder(top / name, with_parent);
		} catch (const Failure &failure) {
			EXPECT_EQ(failure.code(), ExitCode::Usage);
			return failure.what();
		}
		return "";
	}

	bool refuses(const std::string &name, const std::string &why) const
	{
		return refusal(name).find(why) != std::string::npos;
	}

	fs::path top;
};

TEST_F(RunFolder, TakesANewOneInAFolderThatIsThere)
{
	EXPECT_EQ(refusal("new"), "");
	EXPECT_EQ(refusal("new/"), "");
	EXPECT_FALSE(fs::exists(top / "new")) << "it is made when there is something to write";
}

TEST_F(RunFolder, TakesAnEmptyOne)
{
	fs::create_directory(top / "empty");
	EXPECT_EQ(refusal("empty"), "");
}

TEST_F(RunFolder, RefusesForeignFilesAndNamesOne)
{
	fs::create_directory(top / "home");
	file("home/letter.txt");
	EXPECT_TRUE(refuses("home", "\"letter.txt\"")) << refusal("home");
	EXPECT_TRUE(refuses("home/../home/", "\"letter.txt\"")) << refusal("home/../home/");
}

TEST_F(RunFolder, RefusesAHiddenFileToo)
{
	fs::create_directory(top / "repository");
	file("repository/.gitignore");
	EXPECT_TRUE(refuses("repository", ".gitignore"));
}

TEST_F(RunFolder, RefusesAnEarlierRunWholeOrPartial)
{
	fs::create_directory(top / "whole");
	file("whole/capture.icp");
	file("whole/run.json");
	EXPECT_TRUE(refuses("whole", "holds a run already")) << refusal("whole");
	fs::create_directory(top / "partial");
	file("partial/capture.icp.partial");
	EXPECT_TRUE(refuses("partial", "holds a partial run already")) << refusal("partial");
}

TEST_F(RunFolder, RefusesAFolderWhoseParentIsMissing)
{
	EXPECT_TRUE(refuses("a/b", "there is no folder " + (top / "a").string())) << refusal("a/b");
	EXPECT_FALSE(fs::exists(top / "a"));
}

TEST_F(RunFolder, TakesItsParentAsMadeWhereThatIsWanted)
{
	EXPECT_EQ(refusal("a/b", true), "");
	EXPECT_FALSE(fs::exists(top / "a"));
	EXPECT_NE(refusal("a/b/c", true).find("there is no folder " + (top / "a").string()), std::string::npos);
	file("f");
	EXPECT_NE(refusal("f/b", true).find("there is no folder"), std::string::npos) << refusal("f/b", true);
}

TEST_F(RunFolder, RefusesNamesThatAreTooLong)
{
	EXPECT_EQ(refusal(std::string(255, 'n')), "");
	for (const bool with_parent : {false, true})
		EXPECT_NE(refusal(std::string(256, 'n'), with_parent).find("can't be"), std::string::npos);
	EXPECT_NE(refusal("a/" + std::string(256, 'n'), true).find("its name has 256 bytes; the limit is 255"),
			  std::string::npos)
		<< refusal("a/" + std::string(256, 'n'), true);
	// Each name is short enough, and so is the path until the file's name is appended.
	std::string name(100, 'd');
	name.back() = '/';
	std::string deep;
	while ((top / deep).string().size() < 4085)
		deep.append(name);
	deep.resize(4085 - (top / "").string().size());
	fs::create_directories((top / deep).parent_path());
	EXPECT_TRUE(refuses(deep, "File name too long")) << refusal(deep);
}

TEST_F(RunFolder, RefusesAFolderThatHasBeenRemoved)
{
	fs::create_directory(top / "gone");
	const fs::path before = fs::current_path();
	fs::current_path(top / "gone");
	fs::remove(top / "gone");
	std::string told;
	try {
		check_run_folder("out");
	} catch (const Failure &failure) {
		told = failure.what();
	}
	fs::current_path(before);
	EXPECT_NE(told.find("has been removed"), std::string::npos) << told;
}

TEST_F(RunFolder, RefusesAFile)
{
	file("file");
	EXPECT_TRUE(refuses("file", "is a file")) << refusal("file");
	EXPECT_TRUE(refuses("file/run", "there is no folder")) << refusal("file/run");
}

TEST_F(RunFolder, RefusesWhatCannotBeWritten)
{
	constexpr uid_t kNobody = 65534;
	fs::permissions(top, fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add);
	fs::create_directory(top / "closed");
	fs::permissions(top / "closed", fs::perms::owner_read | fs::perms::owner_exec | fs::perms::group_exec);
	const uid_t before = geteuid();
	ASSERT_EQ(seteuid(before == 0 ? kNobody : before), 0); // root may write everywhere
	const std::string told = refusal("closed/run");
	ASSERT_EQ(seteuid(before), 0);
	EXPECT_NE(told.find("can't be written"), std::string::npos) << told;
}

TEST_F(RunFolder, RefusesAClosedFolderThatOneIsIn)
{
	constexpr uid_t kNobody = 65534;
	fs::create_directory(top / "closed");
	const fs::path here = fs::current_path();
	fs::current_path(top / "closed");
	fs::permissions(top / "closed", fs::perms::none);
	const uid_t before = geteuid();
	ASSERT_EQ(seteuid(before == 0 ? kNobody : before), 0); // root may write everywhere
	std::string told;
	try {
		check_run_folder("results/run", true);
	} catch (const Failure &failure) {
		told = failure.what();
	}
	ASSERT_EQ(seteuid(before), 0);
	fs::current_path(here);
	EXPECT_NE(told.find("can't be written: Permission denied"), std::string::npos) << told;
}

} // namespace
} // namespace icepath::run
