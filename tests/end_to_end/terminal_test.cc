// SPDX-License-Identifier: Apache-2.0
// Progress on a terminal: one line, overwritten, unless the terminal can't do that.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

// icepath's output on a terminal of that kind.
std::string on_terminal(const char *kind, const std::filesystem::path &folder)
{
	const std::string program = icepath_program();
	const int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (ours < 0 || grantpt(ours) || unlockpt(ours))
		return "";
	const int theirs = open(ptsname(ours), O_RDWR | O_NOCTTY);
	const pid_t child = fork();
	if (child == 0) {
		setenv("TERM", kind, 1);
		dup2(theirs, STDOUT_FILENO);
		dup2(theirs, STDERR_FILENO);
		if (chdir(folder.c_str()) == 0)
			execl(program.c_str(), program.c_str(), "run", "-t", "pipe", "-s", "64", "--patterns", "pingpong", "-d",
				  "2", "-o", kind, nullptr);
		_exit(127);
	}
	close(theirs);
	std::string text;
	char part[4096];
	for (ssize_t got = 0; (got = read(ours, part, sizeof(part))) > 0;) // EIO once the other end is closed
		text.append(part, static_cast<size_t>(got));
	close(ours);
	waitpid(child, nullptr, 0);
	return text;
}

TEST(Terminal, OneLineIsWrittenOver)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const std::string text = on_terminal("xterm", folder.path());
	EXPECT_NE(text.find("\r\033[Kround 2 of about "), std::string::npos) << text;
}

TEST(Terminal, ADumbOneGetsPlainLines)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const std::string text = on_terminal("dumb", folder.path());
	EXPECT_NE(text.find("round 2 of about "), std::string::npos) << text;
	EXPECT_EQ(text.find('\033'), std::string::npos) << text;
	EXPECT_NE(text.find("run.json"), std::string::npos) << text;
}

} // namespace
} // namespace icepath::end_to_end
