// SPDX-License-Identifier: Apache-2.0
// A command that writes files and is ended by a signal leaves either whole files or none.
#include "profiler/cli/signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <vector>

#include "profiler/exports/written_file.h"
#include "tests/rundir/example_run.h"

namespace icepath::cli {
namespace {

namespace fs = std::filesystem;

// Begins `begun` files in `folder`, completes the first, and is ended by `number`. Returns the status of waitpid(2).
int ended_by(int number, const fs::path &folder, size_t begun)
{
	const pid_t child = fork();
	if (child == 0) {
		leave_no_begun_files();
		std::vector<std::optional<exports::WrittenFile>> files(begun);
		for (size_t i = 0; i < begun; ++i)
			files[i].emplace(folder / (std::to_string(i) + ".csv"));
		files[0]->done();
		raise(number);
		_exit(77);
	}
	int status = 0;
	EXPECT_EQ(waitpid(child, &status, 0), child);
	return status;
}

class Signals : public testing::TestWithParam<int> {};

TEST_P(Signals, LeaveWholeFilesAlone)
{
	const rundir::TemporaryDirectory temporary;
	const fs::path folder = temporary.path("exports");
	fs::create_directory(folder);
	const int status = ended_by(GetParam(), folder, 3);
	ASSERT_TRUE(WIFSIGNALED(status)) << status;
	EXPECT_EQ(WTERMSIG(status), GetParam()) << "what started it must see why it ended";
	std::vector<std::string> left;
	for (const fs::directory_entry &entry : fs::directory_iterator(folder))
		left.push_back(entry.path().filename());
	EXPECT_EQ(left, std::vector<std::string>{"0.csv"});
}

INSTANTIATE_TEST_SUITE_P(OfUsers, Signals, testing::Values(SIGINT, SIGTERM, SIGHUP));

} // namespace
} // namespace icepath::cli
