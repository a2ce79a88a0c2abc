// SPDX-License-Identifier: Apache-2.0
// All code that reads a run directory, on damaged containers: makes reports or throws Failure(Usage), nothing else.
// Stamps and records come from a worker, so their contents are changed too, which no reader can refuse.
#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "profiler/analysis/analyse.h"
#include "profiler/analysis/flamegraph.h"
#include "profiler/exports/run_json.h"
#include "profiler/failure.h"
#include "profiler/pages/flame_svg.h"
#include "profiler/pages/html_report.h"
#include "profiler/rundir/container.h"
#include "profiler/text/terminal.h"
#include "tests/model/own_window.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/damage.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {
namespace {

void report_all(const std::string &run)
{
	const analysis::RunResult result = analysis::analyse(run);
	for (const analysis::CellResult &cell : result.cells) {
		uint64_t incomplete = 0;
		for (const uint64_t n : cell.paths.incomplete)
			incomplete += n;
		ASSERT_EQ(cell.paths.complete() + incomplete, cell.paths.deliveries);
		ASSERT_EQ(cell.paths.layers.sum_error_ns(), 0u);
	}
	EXPECT_FALSE(text::terminal_report(result, {.unicode = true}).empty());
	EXPECT_TRUE(nlohmann::json::accept(exports::run_json_text(result)));
	EXPECT_FALSE(pages::html_report(result).empty());
	EXPECT_FALSE(
		pages::flame_svg(
			analysis::flame_graph(result, analysis::FlameMessages::All, "", analysis::FlameFunctions::Shown), "x")
			.empty());
}

model::Block small_block(size_t cell, bool probed)
{
	BlockPlan plan;
	plan.cell = static_cast<uint32_t>(cell);
	plan.probed = probed;
	plan.messages = 30;
	plan.delay_ns = [](uint64_t seq, size_t) { return seq % 5 * 100; };
	return make_block(small_head().cells[cell], plan);
}

TEST(ReportDamage, ChangedContainersAreReportedOrRefused)
{
	const rundir::TemporaryDirectory temporary;
	{
		rundir::Writer writer(temporary.path("run"), small_head());
		writer.add(small_block(0, true));
		writer.add(small_block(1, false));
		writer.add(with_samples(small_block(0, true)));
		writer.finish({"", false, 1, {"a notice"}});
	}
	const std::string bytes = rundir::file_bytes(temporary.path("run/capture.icp"));
	std::mt19937 random(7);
	for (int i = 0; i < 500; ++i) {
		rundir::write_file(temporary.path("changed.icp"), rundir::damaged(bytes, random));
		try {
			report_all(temporary.path("changed.icp"));
		} catch (const Failure &failure) {
			ASSERT_EQ(failure.code(), ExitCode::Usage) << failure.what();
		}
	}
}

template <typename T> void change_some(std::vector<T> &items, std::mt19937_64 &random)
{
	static constexpr uint64_t kOdd[] = {0, 1, UINT64_MAX, uint64_t{1} << 63, UINT32_MAX, 1'000'005'000};
	for (unsigned n = random() % 4; n > 0 && !items.empty(); --n) {
		auto *words = reinterpret_cast<unsigned char *>(&items[random() % items.size()]);
		const uint64_t value = random() % 2 ? kOdd[random() % std::size(kOdd)] : 1'000'000'000 + random() % 200'000;
		std::memcpy(words + 8 * (random() % (sizeof(T) / 8)), &value, sizeof value);
	}
}

TEST(ReportDamage, UntruthfulStampsAndRecordsNeverBreakAReport)
{
	std::mt19937_64 random(8);
	for (int i = 0; i < 300; ++i) {
		const rundir::TemporaryDirectory temporary;
		model::Block block = small_block(random() % 2, true);
		const model::Block sound = block; // for layers that samples divide
		if (random() % 2)
			block = with_samples(block);
		for (model::BlockFlow &flow : block.flows) {
			change_some(flow.sends, random);
			change_some(flow.recvs, random);
		}
		for (model::SlotCapture &slot : own_window(block).slots)
			change_some(slot.records, random);
		{
			rundir::Writer writer(temporary.path("run"), small_head());
			writer.add(sound);
			writer.add(block);
			writer.finish({});
		}
		report_all(temporary.path("run"));
	}
}

} // namespace
} // namespace icepath::report
