// SPDX-License-Identifier: Apache-2.0
// The selftest's own folder: it goes with the process, however that ends.
#include "profiler/selftest/workspace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace icepath::selftest {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class WorkspaceTest : public testing::Test {
protected:
	void SetUp() override
	{
		std::string name = fs::temp_directory_path() / "icepath-test-XXXXXX";
		ASSERT_NE(mkdtemp(name.data()), nullptr);
		top = name;
		setenv("TMPDIR", name.c_str(), 1);
	}
	void TearDown() override
	{
		unsetenv("TMPDIR");
		fs::remove_all(top);
	}
	size_t folders() const
	{
		return static_cast<size_t>(std::distance(fs::directory_iterator(top), fs::directory_iterator()));
	}
	bool empty_soon() const
	{
		for (int i = 0; i < 3000 && folders() > 0; i++)
			std::this_thread::sleep_for(10ms);
		return folders() == 0;
	}
	// A process that has made one, with a file in it, and lives until it is killed.
	pid_t another() const
	{
		int made[2];
		EXPECT_EQ(pipe(made), 0);
		const pid_t child = fork();
		if (child == 0) {
			const Workspace workspace;
			std::ofstream(fs::path(workspace.path()) / "file") << "x";
			(void)!write(made[1], "x", 1);
			pause();
			_exit(0);
		}
		char byte = 0;
		EXPECT_EQ(read(made[0], &byte, 1), 1);
		close(made[0]);
		close(made[1]);
		return child;
	}
	// The process that removes the folder of `maker`.
	static pid_t remover_of(pid_t maker)
	{
		pid_t remover = 0;
		std::ifstream(fmt::format("/proc/{0}/task/{0}/children", maker)) >> remover;
		return remover;
	}
	static void end(pid_t child)
	{
		kill(child, SIGKILL);
		waitpid(child, nullptr, 0);
	}
	fs::path top;
};

TEST_F(WorkspaceTest, IsItsUsersAloneAndGoesWithIt)
{
	{
		const Workspace workspace;
		EXPECT_EQ(fs::status(workspace.path()).permissions(), fs::perms::owner_all);
		std::ofstream(fs::path(workspace.path()) / "file") << "x";
		EXPECT_EQ(folders(), 1u);
	}
	EXPECT_EQ(folders(), 0u);
}

TEST_F(WorkspaceTest, OfOneWhoWasKilledGoesByItself)
{
	end(another());
	EXPECT_TRUE(empty_soon());
}

TEST_F(WorkspaceTest, GoesWithTheNextOneWhereWhatRemovesItWasKilledToo)
{
	const pid_t other = another();
	const pid_t remover = remover_of(other);
	ASSERT_GT(remover, 0);
	pollfd ended{static_cast<int>(syscall(SYS_pidfd_open, remover, 0)), POLLIN, 0};
	ASSERT_GE(ended.fd, 0);
	kill(remover, SIGKILL);
	EXPECT_EQ(poll(&ended, 1, 10'000), 1); // it holds the folder's lock until then
	close(ended.fd);
	end(other);
	EXPECT_EQ(folders(), 1u);
	{
		const Workspace workspace;
		EXPECT_EQ(folders(), 1u) << "its own";
	}
	EXPECT_EQ(folders(), 0u);
}

// Otherwise their readers would wait for its end.
TEST_F(WorkspaceTest, WhatRemovesItHasNoneOfItsMakersDescriptors)
{
	const pid_t other = another();
	const pid_t remover = remover_of(other);
	ASSERT_GT(remover, 0);
	const auto has_others = [&] {
		for (const auto &fd : fs::directory_iterator(fmt::format("/proc/{}/fd", remover))) {
			std::error_code closed;
			const std::string what = fs::read_symlink(fd.path(), closed);
			if (!closed && what != "/dev/null" && what != "anon_inode:[pidfd]" && !what.starts_with(top.string()))
				return true;
		}
		return false;
	};
	for (int i = 0; i < 3000 && has_others(); i++) // it closes them after its maker goes on
		std::this_thread::sleep_for(10ms);
	EXPECT_FALSE(has_others());
	end(other);
	EXPECT_TRUE(empty_soon());
}

TEST_F(WorkspaceTest, OfOneWhoLivesStays)
{
	const pid_t other = another();
	{
		const Workspace workspace;
		EXPECT_EQ(folders(), 2u);
	}
	EXPECT_EQ(folders(), 1u);
	end(other);
	EXPECT_TRUE(empty_soon());
}

// The name alone isn't enough: a link's target, other files and other users' folders stay.
TEST_F(WorkspaceTest, TakesAwayNothingElse)
{
	fs::create_directory(top / "other");
	std::ofstream(top / "other/file") << "x";
	fs::create_directory_symlink(top / "other", top / "icepath-selftest-linked");
	std::ofstream(top / "icepath-selftest-file") << "x";
	fs::create_directory(top / "icepath-selftest-foreign");
	constexpr uid_t kNobody = 65534;
	const bool foreign = geteuid() == 0 && chown((top / "icepath-selftest-foreign").c_str(), kNobody, kNobody) == 0;
	const Workspace workspace;
	EXPECT_TRUE(fs::exists(top / "other/file"));
	EXPECT_TRUE(fs::exists(top / "icepath-selftest-linked"));
	EXPECT_TRUE(fs::exists(top / "icepath-selftest-file"));
	EXPECT_EQ(fs::exists(top / "icepath-selftest-foreign"), foreign);
}

} // namespace
} // namespace icepath::selftest
