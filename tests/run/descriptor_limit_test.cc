// SPDX-License-Identifier: Apache-2.0
// The needed descriptors against the limit. A limit applies to the whole process, so each is tried in a child.
#include "profiler/run/descriptor_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "profiler/failure.h"

namespace icepath::run {
namespace {

// The result of `told` in a child with this limit.
std::string with_limit(rlim_t soft, rlim_t hard, const std::function<std::string()> &told)
{
	int ends[2];
	EXPECT_EQ(pipe(ends), 0);
	const pid_t child = fork();
	if (child == 0) {
		const rlimit files{soft, hard};
		const std::string text = setrlimit(RLIMIT_NOFILE, &files) ? "no limit" : told();
		(void)!write(ends[1], text.data(), text.size());
		_exit(0);
	}
	close(ends[1]);
	char text[512] = {};
	(void)!read(ends[0], text, sizeof(text) - 1);
	close(ends[0]);
	waitpid(child, nullptr, 0);
	return text;
}

std::string refusal(size_t cells)
{
	model::Cell cell;
	cell.graph = model::star(1, {0, 1}, model::Between::Processes, false);
	try {
		raise_descriptor_limit();
		check_descriptor_limit(std::vector<model::Cell>(cells, cell));
	} catch (const Failure &failure) {
		return failure.code() == ExitCode::MachineCannot ? failure.what() : "another code";
	}
	return "";
}

TEST(DescriptorLimit, IsEnoughForEachRunOrSaysWhatIs)
{
	EXPECT_EQ(with_limit(128, 128, [] { return refusal(0); }), "");
	for (const rlim_t few : {10, 64, 127})
		EXPECT_EQ(with_limit(few, few, [] { return refusal(0); }), "128 open files are needed, and " +
																	   std::to_string(few) +
																	   " are allowed: raise the limit (ulimit -Hn)");
}

TEST(DescriptorLimit, GrowsWithTheCells)
{
	EXPECT_EQ(with_limit(178, 178, [] { return refusal(10); }), "");
	EXPECT_EQ(
		with_limit(177, 177, [] { return refusal(10); }),
		"178 open files are needed for 10 cells, and 177 are allowed: raise the limit (ulimit -Hn) or measure fewer "
		"cells at once");
}

TEST(DescriptorLimit, IsTheHardOne)
{
	EXPECT_EQ(with_limit(10, 500, [] { return refusal(1); }), "");
}

// With a limit above 1024, libraries that use select(2) fail; with a limit of ten, a library can't be loaded.
TEST(DescriptorLimit, OfWorkersIsTheUsersAndAtLeastTheUsualOne)
{
	const auto of_workers = [] {
		raise_descriptor_limit();
		restore_descriptor_limit();
		rlimit files{};
		getrlimit(RLIMIT_NOFILE, &files);
		return std::to_string(files.rlim_cur);
	};
	EXPECT_EQ(with_limit(10, 4000, of_workers), "1024");
	EXPECT_EQ(with_limit(10, 500, of_workers), "500");
	EXPECT_EQ(with_limit(2000, 4000, of_workers), "2000");
	EXPECT_EQ(with_limit(4000, 4000, of_workers), "4000") << "never raised";
}

} // namespace
} // namespace icepath::run
