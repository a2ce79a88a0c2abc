// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "profiler/failure.h"
#include "profiler/rundir/container.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {
namespace {

std::string captured(const std::function<void()> &prints)
{
	testing::internal::CaptureStdout();
	prints();
	return testing::internal::GetCapturedStdout();
}

TEST(Report, PrintsTheSameAgain)
{
	const rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");
	write_small_run(run);
	bool good = false;
	const Style style{.unicode = true};
	const std::string first = captured([&] { good = write_and_print(run, style); });
	EXPECT_TRUE(good);
	EXPECT_EQ(captured([&] { print(run, style); }), first);
	EXPECT_EQ(captured([&] { print(run + "/capture.icp", style); }), first);
	EXPECT_EQ(nlohmann::json::parse(rundir::file_bytes(run + "/run.json"))["schema_version"], 1);
	EXPECT_FALSE(std::filesystem::exists(run + "/run.json.partial"));
	// In another place, as on another machine.
	std::filesystem::rename(run, temporary.path("moved"));
	EXPECT_EQ(captured([&] { print(temporary.path("moved"), style); }), first);
}

TEST(Report, APartialRunIsPrintedAndNotValid)
{
	const rundir::TemporaryDirectory temporary;
	write_small_run(temporary.path("run"), false);
	bool good = true;
	const std::string text = captured([&] { good = print(temporary.path("run"), {}); });
	EXPECT_FALSE(good);
	EXPECT_NE(text.find("the run isn't finished"), std::string::npos);
}

TEST(Report, WritesTheFlameGraph)
{
	const rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");
	write_small_run(run);
	EXPECT_EQ(write_flamegraph(run, ""), run + "/latency.svg");
	const std::string elsewhere = temporary.path("else/where");
	EXPECT_EQ(write_flamegraph(run, elsewhere), elsewhere + "/latency.svg");
	const std::string lines = rundir::file_bytes(run + "/latency.folded");
	EXPECT_EQ(rundir::file_bytes(elsewhere + "/latency.folded"), lines);
	EXPECT_EQ(captured([&] { print_folded(run); }), lines);
}

TEST(Report, SaysWhereItCantWrite)
{
	const rundir::TemporaryDirectory temporary;
	write_small_run(temporary.path("run"));
	rundir::write_file(temporary.path("file"), "");
	try {
		write_flamegraph(temporary.path("run"), temporary.path("file"));
		FAIL();
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		EXPECT_NE(std::string(failure.what()).find("file/latency.folded can't be written: Not a directory"),
				  std::string::npos)
			<< failure.what();
	}
}

TEST(Report, ForeignFilesAreRefused)
{
	const rundir::TemporaryDirectory temporary;
	rundir::write_file(temporary.path("foreign"), "something else entirely");
	EXPECT_THROW(print(temporary.path("foreign"), {}), Failure);
	EXPECT_THROW(print_folded(temporary.path("nowhere")), Failure);
}

} // namespace
} // namespace icepath::report
