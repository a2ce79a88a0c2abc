// SPDX-License-Identifier: Apache-2.0
// Runs with more values than a report keeps (Wanted::most_values), and what that costs.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>

#include "profiler/analysis/analyse.h"
#include "profiler/analysis/latency_ranges.h"
#include "profiler/explain/notices.h"
#include "profiler/exports/run_json.h"
#include "profiler/text/finding_words.h"
#include "tests/folders.h"
#include "tests/report/schema_check.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {
namespace {

constexpr size_t kFewValues = 1u << 14; // of a run; a quarter of these of each quantity
constexpr size_t kAllValues = 1u << 30;

analysis::RunResult analysed(const std::string &path, size_t most_values)
{
	analysis::Wanted wanted;
	wanted.most_values = most_values;
	return analysis::analyse(path, wanted);
}

class LongRun : public testing::Test {
protected:
	rundir::TemporaryDirectory temporary;

	std::string run_of(uint32_t rounds)
	{
		const std::string path = temporary.path("run-" + std::to_string(rounds));
		write_small_run(path, true, rounds, 100'000'000);
		return path;
	}
};

// MiB that a process of its own had at most.
double peak_mib(const std::function<void()> &work)
{
	const pid_t child = ::fork();
	if (child == 0) {
		work();
		::_exit(0);
	}
	int status = -1;
	rusage used{};
	EXPECT_EQ(::wait4(child, &status, 0, &used), child);
	EXPECT_EQ(status, 0);
	return static_cast<double>(used.ru_maxrss) / 1024;
}

// Eight times the run, with blocks that are as long.
TEST_F(LongRun, TakesAsMuchMemoryAsAShorterOne)
{
	constexpr uint32_t kShortRun = 60;
	const std::string one = run_of(kShortRun), eight = run_of(8 * kShortRun);
	const double without = peak_mib([] {});
	const auto taken = [&](const std::string &path, size_t most_values) {
		return peak_mib([&] { analysed(path, most_values); }) - without;
	};
	const double few_of_one = taken(one, kFewValues), few_of_eight = taken(eight, kFewValues);
	const double all_of_eight = taken(eight, kAllValues);
	std::printf("%.1f MiB, of eight times as many messages %.1f, and %.1f if all are kept\n", few_of_one, few_of_eight,
				all_of_eight);
	EXPECT_LT(few_of_eight, 2 * few_of_one);
	EXPECT_GT(all_of_eight, 2 * few_of_one) << "or this test shows nothing";
}

// What is told of a range is of the messages whose layers are added up, though its ends aren't measured values.
TEST_F(LongRun, LayersAddUpToTheLatencyOfTheirMessages)
{
	const std::string path = run_of(120);
	const analysis::RunResult few = analysed(path, kFewValues), all = analysis::analyse(path);
	for (size_t i = 0; i < all.cells.size(); ++i) {
		const analysis::CellResult &cell = few.cells[i], &exact = all.cells[i];
		EXPECT_GT(cell.times.latency.off, 0);
		EXPECT_EQ(exact.times.latency.off, 0);
		EXPECT_EQ(cell.times.latency.mean, exact.times.latency.mean);
		EXPECT_EQ(cell.times.latency.mean_by_block, exact.times.latency.mean_by_block);
		EXPECT_EQ(cell.paths.layers.total_ns(), exact.paths.layers.total_ns());
		EXPECT_EQ(cell.paths.layers.sum_error_ns(), 0u);
		for (const auto range : {&analysis::TypicalAndTail::typical, &analysis::TypicalAndTail::tail}) {
			ASSERT_TRUE((cell.ranges.*range) && (exact.ranges.*range));
			const analysis::LatencyRange &told = *(cell.ranges.*range), &truth = *(exact.ranges.*range);
			EXPECT_EQ(told.messages, told.layers.deliveries());
			EXPECT_EQ(told.layers.sum_error_ns(), 0u);
			EXPECT_LE(told.from_ns, truth.from_ns);
			EXPECT_GE(told.messages, truth.messages);
			EXPECT_NEAR(told.layers.mean_ns(), truth.layers.mean_ns(), 0.01 * truth.layers.mean_ns());
			uint64_t sum = 0;
			for (const analysis::LayerRow &row : told.layers.rows())
				sum += row.total_ns;
			EXPECT_EQ(sum, told.layers.total_ns());
		}
	}
}

TEST_F(LongRun, SaysWhatIsOff)
{
	const std::string path = run_of(120);
	const analysis::RunResult few = analysed(path, kFewValues), all = analysis::analyse(path);
	const nlohmann::json told = exports::run_json(few), exact = exports::run_json(all);
	std::ifstream file(test::in_source("docs/run-schema.json"));
	EXPECT_EQ(schema_complaints(nlohmann::json::parse(file), told), std::vector<std::string>());
	EXPECT_EQ(told["cells"][0]["latency_ns"]["off_by_at_most"], 0.0005);
	EXPECT_GT(told["cells"][0]["modes_of_one_in"], 1);
	EXPECT_FALSE(exact["cells"][0]["latency_ns"].contains("off_by_at_most"));
	EXPECT_FALSE(exact["cells"][0].contains("modes_of_one_in"));
	const auto notice_of = [](const analysis::RunResult &result) {
		const std::vector<std::string> list = text::notice_sentences(result);
		return std::ranges::any_of(
			list, [](const std::string &one) { return one.find("off by 0.05 % at most") != std::string::npos; });
	};
	EXPECT_TRUE(notice_of(few));
	EXPECT_FALSE(notice_of(all));
}

} // namespace
} // namespace icepath::report
