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

TEST(Report, PrintsTheSameAgain)
{
	const rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");
	write_small_run(run);
	const text::Style style{.unicode = true};
	const auto [first, flaws, of_gates] = report_and_write(run, style);
	EXPECT_EQ(of_gates, ExitCode::Ok);
	EXPECT_TRUE(flaws.empty());
	EXPECT_EQ(report_of(run, style).text, first);
	EXPECT_EQ(report_of(run + "/capture.icp", style).text, first);
	EXPECT_EQ(nlohmann::json::parse(rundir::file_bytes(run + "/run.json"))["schema"], 2);
	EXPECT_EQ(rundir::file_bytes(run + "/run.json"), json_of(run));
	EXPECT_FALSE(std::filesystem::exists(run + "/run.json.partial"));
	const std::string page = rundir::file_bytes(run + "/report.html");
	EXPECT_EQ(write_html(run), run + "/report.html");
	EXPECT_EQ(rundir::file_bytes(run + "/report.html"), page) << "equal runs give equal bytes";
	// Moved, as to another machine.
	std::filesystem::rename(run, temporary.path("moved"));
	EXPECT_EQ(report_of(temporary.path("moved"), style).text, first);
}

TEST(Report, APartialRunIsPrintedAndNotValid)
{
	const rundir::TemporaryDirectory temporary;
	write_small_run(temporary.path("run"), false);
	const auto [text, flaws, of_gates] = report_of(temporary.path("run"), {});
	EXPECT_EQ(of_gates, ExitCode::Ok);
	EXPECT_FALSE(flaws.empty());
	EXPECT_NE(text.find("partial: the run isn't finished"), std::string::npos);
	EXPECT_EQ(text.find("run.json"), std::string::npos) << "there is none";
	EXPECT_EQ(nlohmann::json::parse(json_of(temporary.path("run")))["icepath"]["partial"], true);
}

TEST(Report, WritesTheFlameGraph)
{
	const rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");
	write_small_run(run);
	EXPECT_EQ(write_flamegraph(run, {}, {}), run + "/latency.svg");
	const std::string elsewhere = temporary.path("else/where");
	EXPECT_EQ(write_flamegraph(run, {}, place_of_flames(elsewhere)), elsewhere + "/latency.svg");
	const std::string lines = rundir::file_bytes(run + "/latency.folded");
	EXPECT_EQ(rundir::file_bytes(elsewhere + "/latency.folded"), lines);
	EXPECT_EQ(folded_of(run, {}), lines);
}

// Else a message's time at one rate would be shown as grown or shrunk from that at another.
TEST(Report, FlameGraphsOfDifferentRatesAreNotCompared)
{
	const rundir::TemporaryDirectory temporary;
	const auto run_at = [&](double rate_hz) {
		const std::string run = temporary.path(std::to_string(rate_hz));
		model::Head head = small_head();
		head.cells = {socket_cell(model::Pattern::OneWay)};
		head.cells[0].rate_hz = rate_hz;
		rundir::Writer writer(run, head);
		for (uint32_t round = 0; round < 8; ++round)
			writer.add(make_block(head.cells[0], {.round = round, .probed = round % 2 == 1}));
		writer.finish({});
		return run;
	};
	const std::string slow = run_at(100), fast = run_at(10'000);
	EXPECT_NE(folded_of(slow, {.other = slow}), "");
	try {
		folded_of(slow, {.other = fast});
		FAIL() << "it compares them";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		EXPECT_NE(std::string(failure.what()).find("rate: 100/s and 10000/s"), std::string::npos) << failure.what();
	}
}

TEST(Report, WritesTheFlameGraphIntoTheFileThatIsNamed)
{
	const rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run"), folder = temporary.path("folder");
	write_small_run(run);
	EXPECT_EQ(write_flamegraph(run, {}, place_of_flames(folder + "/mine.svg")), folder + "/mine.svg");
	EXPECT_EQ(write_flamegraph(run, {}, place_of_flames(folder + "/mine.folded")), folder + "/mine.folded");
	EXPECT_TRUE(rundir::file_bytes(folder + "/mine.svg").starts_with("<?xml"));
	EXPECT_EQ(rundir::file_bytes(folder + "/mine.folded"), folded_of(run, {}));
	EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2) << "no other file";
	std::filesystem::create_directory(temporary.path("a.svg"));
	EXPECT_EQ(write_flamegraph(run, {}, place_of_flames(temporary.path("a.svg"))),
			  temporary.path("a.svg") + "/latency.svg");
	try {
		write_flamegraph(run, {}, place_of_flames(folder + "/mine.json"));
		FAIL() << "nothing was thrown";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		EXPECT_NE(std::string(failure.what()).find("name a folder, or a file that ends in .svg or .folded"),
				  std::string::npos)
			<< failure.what();
	}
	EXPECT_EQ(place_of_flames("mine.svg").folder, ".") << "not the run directory";
	EXPECT_FALSE(std::filesystem::exists(folder + "/mine.json"));
}

TEST(Report, SaysWhereItCantWrite)
{
	const rundir::TemporaryDirectory temporary;
	write_small_run(temporary.path("run"));
	rundir::write_file(temporary.path("file"), "");
	try {
		write_flamegraph(temporary.path("run"), {}, place_of_flames(temporary.path("file")));
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
	EXPECT_THROW(report_of(temporary.path("foreign"), {}), Failure);
	EXPECT_THROW(folded_of(temporary.path("nowhere"), {}), Failure);
}

} // namespace
} // namespace icepath::report
