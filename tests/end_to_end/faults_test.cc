// SPDX-License-Identifier: Apache-2.0
// Each row of the table of faults, tried: the message, the exit code, what is kept, and that nothing is left behind.
#include "tests/end_to_end/faults.h"
#include "tests/folders.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

namespace icepath::end_to_end {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Reports wrap their lines.
std::string in_one_line(const std::string &text) { return std::regex_replace(text, std::regex("\\s+"), " "); }

// `sentence`: see Fault::sees. Not a regular expression: the library's recursion depth grows with the text.
bool tells(const Outcome &outcome, const std::string &sentence)
{
	const std::string text = in_one_line(outcome.err + " " + outcome.out), gap = "…";
	size_t at = 0;
	for (size_t begin = 0; begin <= sentence.size();) {
		const size_t end = std::min(sentence.find(gap, begin), sentence.size());
		at = text.find(sentence.substr(begin, end - begin), at);
		if (at == std::string::npos)
			return false;
		at += end - begin;
		begin = end + gap.size();
	}
	return true;
}

// A disturbed run has more notices than one screen: the report there says how many are left, and the full one has them.
bool tells_in_all(const Outcome &outcome, const Fault &fault, const fs::path &folder)
{
	if (tells(outcome, fault.sees))
		return true;
	if (!fs::exists(folder / "out/run.json") || !tells(outcome, "more: icepath report -v RUN"))
		return false;
	return tells(end_to_end::run({icepath_program(), "report", "-v", "out"}, folder), fault.sees);
}

void expect_kept(const Fault &fault, const fs::path &folder)
{
	const fs::path run = folder / "out";
	switch (fault.kept) {
	case Kept::Unasked:
	case Kept::Nothing:
		EXPECT_FALSE(fs::exists(run)) << "there is a run directory";
		EXPECT_FALSE(fs::exists(folder / "results")) << "there is a run directory";
		return;
	case Kept::Partial: {
		EXPECT_TRUE(fs::exists(run / "capture.icp.partial"));
		EXPECT_FALSE(fs::exists(run / "run.json"));
		const Outcome report = end_to_end::run({icepath_program(), "report", "out"}, folder);
		EXPECT_EQ(report.exit_code, 0) << report.err;
		EXPECT_TRUE(tells(report, "the run isn't finished")) << report.out;
		return;
	}
	case Kept::Marked:
	case Kept::Whole:
		ASSERT_TRUE(fs::exists(run / "run.json"));
		EXPECT_TRUE(fs::exists(run / "capture.icp"));
		EXPECT_FALSE(fs::exists(run / "capture.icp.partial"));
		EXPECT_EQ(read_json(run / "run.json")["icepath"]["interrupted"], fault.kept == Kept::Marked);
	}
}

class Faults : public testing::TestWithParam<Fault> {};

TEST_P(Faults, AreToldAndLeaveNothing)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Fault &fault = GetParam();
	const Traces before = traces_before();
	Scene scene;
	if (fault.how.before) {
		ASSERT_NO_FATAL_FAILURE(fault.how.before(scene));
	}
	std::vector<std::string> arguments = {icepath_program()};
	arguments.insert(arguments.end(), fault.arguments.begin(), fault.arguments.end());
	if (*fault.how.shell)
		arguments.insert(arguments.begin(), {"/bin/sh", "-c", std::string(fault.how.shell) + "\nexec \"$@\"", "sh"});
	auto environment = fault.how.environment;
	environment["TMPDIR"] = scene.temporary;
	scene.icepath = std::make_unique<Running>(arguments, scene.folder.path(), environment);
	if (fault.how.cause) {
		ASSERT_NO_FATAL_FAILURE(await_rounds(*scene.icepath));
		fault.how.cause(scene);
	}
	const Outcome outcome = scene.icepath->wait(60s);
	EXPECT_EQ(outcome.exit_code, fault.exit_code) << outcome.err << outcome.out;
	EXPECT_TRUE(tells_in_all(outcome, fault, scene.folder.path())) << outcome.err << outcome.out;
	if (!*fault.sees) {
		EXPECT_EQ(outcome.err.find("icepath: "), std::string::npos) << outcome.err;
	}
	if (fault.exit_code == 2) {
		EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << "one sentence: " << outcome.err;
	}
	ASSERT_NO_FATAL_FAILURE(expect_kept(fault, scene.folder.path()));
	if (fault.how.after)
		fault.how.after(scene, outcome);
	EXPECT_EQ(traces_after(before), before);
	for (const auto &left : fs::directory_iterator(scene.temporary))
		ADD_FAILURE() << left.path();
}

std::vector<Fault> faults_at_a_moment(bool at_one)
{
	std::vector<Fault> some = faults();
	std::erase_if(some, [=](const Fault &fault) { return fault.how.at_a_moment != at_one; });
	return some;
}

std::string name_of(const testing::TestParamInfo<Fault> &which) { return which.param.name; }

INSTANTIATE_TEST_SUITE_P(Table, Faults, testing::ValuesIn(faults_at_a_moment(false)), name_of);
INSTANTIATE_TEST_SUITE_P(AtAMoment, Faults, testing::ValuesIn(faults_at_a_moment(true)), name_of);

// With too few: the same sentence before anything is measured, and no blame on the kernel, its BTF or the helper.
TEST(Descriptors, AreCountedBeforeTheyAreUsedUp)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	for (int limit = 10; limit < 138; limit += limit < 128 ? 6 : 1) {
		const Outcome outcome =
			run({"/bin/sh", "-c", "ulimit -n " + std::to_string(limit) + "; exec \"$@\"", "sh", icepath_program(),
				 "run", "-t", "pipe,mqueue", "-s", "64", "--patterns", "pingpong", "-d", "2", "-o", "out"},
				folder.path());
		EXPECT_EQ(outcome.exit_code, 3) << limit << outcome.err;
		EXPECT_TRUE(tells(outcome, "open files are needed… and " + std::to_string(limit) + " are allowed"))
			<< outcome.err;
		EXPECT_FALSE(fs::exists(folder.path() / "out"));
	}
}

bool is_told_as_a_limit(const Outcome &outcome)
{
	return (outcome.exit_code == 0 || outcome.exit_code == 3 || outcome.exit_code == 4) &&
		   outcome.err.find("internal error") == std::string::npos &&
		   outcome.err.find("bad_alloc") == std::string::npos;
}

Outcome run_within(int kib, const std::vector<std::string> &arguments, const fs::path &folder)
{
	std::vector<std::string> command = {"/bin/sh", "-c", "ulimit -v " + std::to_string(kib) + "; exec \"$@\"", "sh",
										icepath_program()};
	command.insert(command.end(), arguments.begin(), arguments.end());
	return run(command, folder);
}

// The least address space in which the system's loader can load icepath; with less, the loader says so.
int least_kib(const fs::path &folder)
{
	constexpr int kStep = 1'000, kLoaderFailed = 127;
	int kib = 10'000;
	while (run_within(kib, {"--version"}, folder).exit_code == kLoaderFailed)
		kib += kStep;
	return kib;
}

// Of an address space that is too small, wherever that shows: never as a defect of icepath.
TEST(Memory, ThatRunsOutIsTold)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const Traces before = traces_before();
	bool any_failed = false;
	for (int kib = least_kib(folder.path()); kib < 100'000; kib += 12'000) {
		fs::remove_all(folder.path() / "out");
		const Outcome outcome =
			run_within(kib, {"run", "-t", "pipe,mqueue", "-s", "64", "--patterns", "pingpong", "-d", "2", "-o", "out"},
					   folder.path());
		EXPECT_TRUE(is_told_as_a_limit(outcome)) << kib << " KiB: " << outcome.exit_code << outcome.err;
		any_failed = any_failed || outcome.exit_code != 0;
	}
	EXPECT_TRUE(any_failed) << "the limits weren't limits";
	EXPECT_EQ(traces_after(before), before);
}

// Where a control group has too little, the kernel kills one of its processes.
TEST(Memory, OfTheGroupThatRunsOutIsTold)
{
	const fs::path group = "/sys/fs/cgroup/memory/of-a-test";
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	if (!fs::exists(group.parent_path() / "memory.limit_in_bytes"))
		GTEST_SKIP() << "no memory controller of cgroup v1";
	const Folder folder;
	const Traces before = traces_before();
	fs::create_directory(group);
	std::ofstream(group / "memory.limit_in_bytes") << (16 << 20);
	const Outcome outcome =
		run({"/bin/sh", "-c", "echo $$ >" + (group / "cgroup.procs").string() + "; exec \"$@\"", "sh",
			 icepath_program(), "run", "-t", "pipe", "-s", "64", "--patterns", "pingpong", "-d", "2", "-o", "out"},
			folder.path());
	EXPECT_TRUE(outcome.exit_code == 137 || is_told_as_a_limit(outcome)) << outcome.exit_code << outcome.err;
	EXPECT_TRUE(outcome.exit_code == 137 || tells(outcome, "memory ran out")) << outcome.err;
	EXPECT_EQ(traces_after(before), before);
	fs::remove(group);
}

// If it differs, the test's message has the correct table.
TEST(FaultsDocument, ShowsThisTable)
{
	std::ifstream file(test::in_source("docs/faults.md"));
	std::stringstream text;
	text << file.rdbuf();
	const std::string begin = "<!-- faults -->\n", end = "<!-- /faults -->\n";
	const size_t from = text.str().find(begin), to = text.str().find(end);
	ASSERT_TRUE(from != std::string::npos && to != std::string::npos);
	EXPECT_EQ(text.str().substr(from + begin.size(), to - from - begin.size()), table_of_faults());
}

} // namespace
} // namespace icepath::end_to_end
