// SPDX-License-Identifier: Apache-2.0
// Rehearsals by a script in place of `icepath report -- RUN`. It isn't this program, which would run its tests again.
#include "profiler/cli/rehearsal.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace icepath::cli {
namespace {

constexpr size_t kTaken = 64u << 20; // of memory, by a report

class Rehearsal : public testing::Test {
protected:
	void SetUp() override
	{
		std::string pattern = testing::TempDir() + "icepath-rehearsal-XXXXXX";
		ASSERT_NE(mkdtemp(pattern.data()), nullptr);
		folder = pattern;
		program = folder / "program";
		// tail(1) keeps the only line whole.
		std::ofstream(program) << "#!/bin/sh\n[ \"$1 $2\" = 'report --' ] || exit 2\n"
								  "case $3 in\nworks|--works) ;;\nis-killed) kill -9 $$ ;;\nhangs) exec sleep 300 ;;\n"
							   << "takes-much) head -c " << kTaken << " /dev/zero | tail -n 1 ;;\n*) exit 1 ;;\nesac\n";
		ASSERT_EQ(chmod(program.c_str(), 0700), 0);
	}
	void TearDown() override { std::filesystem::remove_all(folder); }

	bool rehearse(const std::string &run) const
	{
		return rehearse_report(program, run, [] { return false; });
	}

	std::filesystem::path folder, program;
};

size_t heap_bytes()
{
	const struct mallinfo2 heap = mallinfo2();
	return heap.arena + heap.hblkhd;
}

TEST_F(Rehearsal, SaysWhetherThereWasAReport)
{
	EXPECT_TRUE(rehearse("works"));
	EXPECT_FALSE(rehearse("fails"));
	EXPECT_FALSE(rehearse("is-killed"));
	EXPECT_FALSE(rehearse_report(folder / "no-program", "works", [] { return false; }));
}

TEST_F(Rehearsal, RunsThatLookLikeOptionsAreRuns) { EXPECT_TRUE(rehearse("--works")); }

// By what this process took from the system, and by the most that it ever had resident, which the report exceeds.
TEST_F(Rehearsal, KeepsNoMemory)
{
	const size_t before = heap_bytes();
	for (int i = 0; i < 3; ++i)
		ASSERT_TRUE(rehearse("takes-much"));
	EXPECT_LE(heap_bytes(), before + (64u << 10));
	rusage own{}, of_children{};
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &of_children);
	EXPECT_LT(static_cast<size_t>(own.ru_maxrss) << 10, kTaken / 2);
	EXPECT_GT(static_cast<size_t>(of_children.ru_maxrss) << 10, kTaken) << "the report was made elsewhere";
}

TEST_F(Rehearsal, EndsWithTheRun)
{
	int asked = 0;
	EXPECT_FALSE(rehearse_report(program, "hangs", [&] { return ++asked == 3; }));
	EXPECT_EQ(asked, 3);
	std::ifstream children("/proc/thread-self/children");
	pid_t child = 0;
	EXPECT_FALSE(children >> child) << "it was killed, and waited for";
}

} // namespace
} // namespace icepath::cli
