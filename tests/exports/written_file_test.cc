// SPDX-License-Identifier: Apache-2.0
// Files are written where they were wanted, and not through planted links.
#include "profiler/exports/written_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace icepath::exports {
namespace {

namespace fs = std::filesystem;

class Written : public testing::Test {
protected:
	void SetUp() override
	{
		char name[] = "/tmp/icepath-written-XXXXXX";
		ASSERT_NE(mkdtemp(name), nullptr);
		folder = name;
		std::ofstream(folder / "victim") << "mine";
	}
	void TearDown() override { fs::remove_all(folder); }
	std::string text_of(const char *name) const
	{
		std::ostringstream text;
		text << std::ifstream(folder / name).rdbuf();
		return text.str();
	}
	fs::path folder;
};

TEST_F(Written, ALinkUnderTheFinalNameIsReplacedAndNotFollowed)
{
	for (const char *planted : {"run.json", "run.json.partial"})
		fs::create_symlink(folder / "victim", folder / planted);
	WrittenFile file(folder / "run.json");
	file.add("{}");
	file.done();
	EXPECT_EQ(text_of("victim"), "mine");
	EXPECT_FALSE(fs::is_symlink(folder / "run.json"));
	EXPECT_EQ(text_of("run.json"), "{}");
}

TEST_F(Written, HasTheModeOfAnOrdinaryFileAndLeavesNoOther)
{
	const mode_t mask = umask(022);
	{
		WrittenFile file(folder / "run.json");
		file.add("{}");
		file.done();
		WrittenFile given_up(folder / "other.json");
		given_up.add("half");
	}
	umask(mask);
	struct stat status{};
	ASSERT_EQ(stat((folder / "run.json").c_str(), &status), 0);
	EXPECT_EQ(status.st_mode & 07777, 0644u);
	EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2) << "victim and run.json";
}

} // namespace
} // namespace icepath::exports
