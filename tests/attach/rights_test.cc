// SPDX-License-Identifier: Apache-2.0
// A process that gains rights which its program hadn't isn't watched from then on, nor are those that it starts.
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "tests/attach/program.h"

namespace icepath::attach {
namespace {

namespace fs = std::filesystem;
constexpr uid_t kUser = 61021;

class ProgramsOfAUser : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		folder = fs::temp_directory_path() / fmt::format("attach-rights-{}", getpid());
		fs::create_directory(folder);
		chmod(folder.c_str(), 0755);
		shell = folder / "shell";
		fs::copy_file("/bin/dash", shell);
		chmod(shell.c_str(), 0755);
	}
	void TearDown() override { fs::remove_all(folder); }

	// A user's program that starts the shell, which starts cat, once it is watched or before. Returns how many of cat's
	// takes are seen.
	ptrdiff_t takes_of_cat(const char *options, bool before = false)
	{
		Program program([&](Shared &shared) {
			int ends[2];
			if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || setgroups(0, nullptr) || setresgid(kUser, kUser, kUser) ||
				setresuid(kUser, kUser, kUser))
				_exit(1);
			if (!before) {
				shared.is_ready = 1;
				await(shared.goes);
			}
			const pid_t child = fork();
			if (child == 0) {
				dup2(ends[1], STDIN_FILENO);
				dup2(ends[1], STDOUT_FILENO);
				close(ends[0]);
				close(ends[1]);
				execl(shell.c_str(), "sh", options, "cat; true", nullptr);
				_exit(1);
			}
			close(ends[1]);
			char byte = 0;
			for (int i = 0; i < 50; i++) {
				if (write(ends[0], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
					_exit(1);
				shared.is_ready = 1;
				await(shared.goes);
			}
			close(ends[0]);
			waitpid(child, nullptr, 0);
		});
		program.await_ready();
		const Watched watched = watch_programs({program.pid()}, 30, [&] { program.shared().goes = 1; });
		notices = watched.outcome.notices;
		return std::ranges::count_if(watched.calls, [&](const icepath_record &record) {
			return record.tid != static_cast<uint32_t>(program.pid()) && record.call.kind == ICEPATH_CALL_TAKE &&
				   record.call.object_kind == ICEPATH_OBJECT_UNIX_STREAM;
		});
	}

	fs::path folder, shell;
	std::vector<std::string> notices;
};

TEST_F(ProgramsOfAUser, AreWatchedWithWhatTheyExecute)
{
	EXPECT_GT(takes_of_cat("-c"), 10);
	EXPECT_TRUE(notices.empty());
}

TEST_F(ProgramsOfAUser, ArentOnceTheyHaveRootsRights)
{
	ASSERT_EQ(chmod(shell.c_str(), 04755), 0);
	EXPECT_EQ(takes_of_cat("-pc"), 0);
	ASSERT_EQ(notices.size(), 1u);
	EXPECT_NE(notices[0].find("gained rights"), std::string::npos) << notices[0];
}

// The shell gives its rights up at once, and cat never has them.
TEST_F(ProgramsOfAUser, ArentOnceTheyHadThem)
{
	ASSERT_EQ(chmod(shell.c_str(), 04755), 0);
	EXPECT_EQ(takes_of_cat("-c"), 0);
}

TEST_F(ProgramsOfAUser, ArentIfTheyHadRootsRightsBefore)
{
	EXPECT_GT(takes_of_cat("-pc", true), 10);
	ASSERT_EQ(chmod(shell.c_str(), 04755), 0);
	EXPECT_EQ(takes_of_cat("-pc", true), 0);
}

TEST_F(ProgramsOfAUser, ArentWithTheRightsOfAnotherGroup)
{
	ASSERT_EQ(chown(shell.c_str(), 0, 61022), 0);
	ASSERT_EQ(chmod(shell.c_str(), 02755), 0);
	EXPECT_EQ(takes_of_cat("-pc"), 0);
}

// As servers do: the target could take any user's id, so nothing is gained.
TEST_F(ProgramsOfAUser, OfRootMayBecomeAUser)
{
	Program program([](Shared &shared) {
		int ends[2];
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			_exit(1);
		shared.is_ready = 1;
		await(shared.goes);
		if (setgroups(0, nullptr) || setresgid(kUser, kUser, kUser) || setresuid(kUser, kUser, kUser))
			_exit(1);
		char byte = 0;
		for (int i = 0; i < 100; i++)
			if (write(ends[0], &byte, 1) != 1)
				_exit(1);
	});
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 30, [&] { program.shared().goes = 1; });
	EXPECT_EQ(std::ranges::count_if(
				  watched.calls,
				  [](const icepath_record &record) { return record.call.object_kind == ICEPATH_OBJECT_UNIX_STREAM; }),
			  100);
}

} // namespace
} // namespace icepath::attach
