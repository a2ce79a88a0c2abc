// SPDX-License-Identifier: Apache-2.0
// Runs a command, and ends as that does: as_installed COMMAND... A word of it that is a program of the build stands for
// an installed copy of that program, where root needs one (installed.h).
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/end_to_end/installed.h"

namespace fs = std::filesystem;

namespace {

// Programs are beside this one.
std::string installed_word(const std::string &word)
{
	std::error_code none;
	const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path(), path = fs::weakly_canonical(word, none);
	return !none && path.parent_path() == folder ? icepath::end_to_end::installed_program(path).string() : word;
}

int status_of(std::vector<std::string> command)
{
	std::vector<char *> words;
	for (std::string &word : command)
		words.push_back(word.data());
	words.push_back(nullptr);
	// The command decides what a terminal's signal means; this one outlives it, to remove the copy.
	for (const int number : {SIGINT, SIGQUIT})
		signal(number, SIG_IGN);
	const pid_t child = fork();
	if (child == 0) {
		for (const int number : {SIGINT, SIGQUIT})
			signal(number, SIG_DFL);
		execvp(words[0], words.data());
		fmt::print(stderr, "as_installed: {} can't be run\n", command[0]);
		_exit(127);
	}
	int status = 0;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

int main(int count, char **arguments)
{
	try {
		std::vector<std::string> command;
		for (int i = 1; i < count; i++)
			command.push_back(installed_word(arguments[i]));
		if (!command.empty())
			return status_of(command);
		fmt::print(stderr, "as_installed: which command?\n");
	} catch (const std::exception &error) {
		fmt::print(stderr, "as_installed: {}\n", error.what());
	}
	return 2;
}
