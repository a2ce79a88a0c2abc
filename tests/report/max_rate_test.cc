// SPDX-License-Identifier: Apache-2.0
// The report of a search for the highest rate, from a hand-made run.
#include <gtest/gtest.h>

#include <fstream>

#include "profiler/analysis/analyse.h"
#include "profiler/explain/notices.h"
#include "profiler/exports/export.h"
#include "profiler/exports/run_json.h"
#include "profiler/rate/threshold.h"
#include "profiler/rundir/container.h"
#include "profiler/text/finding_words.h"
#include "profiler/text/terminal.h"
#include "tests/folders.h"
#include "tests/report/schema_check.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {
namespace {

using rate::hz_of;

constexpr int kHolds = 20; // the highest level that holds
constexpr uint64_t kSentMessages = 1000, kTooLongNs = 2'000'000;

struct Made {
	int level;
	bool probed = false;
	uint64_t lost = 0;
};

class MaxRateReport : public testing::Test {
protected:
	static model::Cell cell()
	{
		model::Cell made = socket_cell(model::Pattern::MaxRate);
		made.limits = model::RateLimits{0, 1'000'000};
		return made;
	}

	void write(const std::vector<Made> &blocks)
	{
		model::Head head = small_head();
		head.cells = {cell()};
		rundir::Writer writer(run, head);
		uint32_t round = 0;
		for (const Made &made : blocks) {
			BlockPlan plan;
			plan.round = round++;
			plan.probed = made.probed;
			plan.messages = kSentMessages + made.lost;
			plan.delay_ns = [&](uint64_t, size_t) { return made.level > kHolds ? kTooLongNs : 0; };
			model::Block block = make_block(head.cells[0], plan);
			block.rate_hz = hz_of(made.level);
			block.flows[0].recvs.resize(block.flows[0].recvs.size() - made.lost);
			writer.add(block);
		}
		writer.finish({});
	}

	// The search went up to level 30 and back; 20 holds and 21 doesn't.
	void write_search()
	{
		write({{10, true},
			   {10},
			   {30},
			   {20, true},
			   {20, true},
			   {20},
			   {21},
			   {19, true},
			   {30, true},
			   {20},
			   {19},
			   {21},
			   {20}});
	}

	rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");
};

TEST_F(MaxRateReport, TellsTheRateAndHowItWasFound)
{
	write_search();
	const analysis::RunResult result = analysis::analyse(run);
	ASSERT_TRUE(result.cells[0].search);
	const rate::Outcome &search = *result.cells[0].search;
	EXPECT_EQ(search.found.hz, hz_of(kHolds));
	EXPECT_EQ(search.found.failed_hz, hz_of(kHolds + 1));
	ASSERT_EQ(search.attempts.size(), 8u) << "blocks without probes";
	EXPECT_EQ(search.attempts[1].hz, hz_of(30));
	EXPECT_FALSE(search.attempts[1].verdict.held);
	EXPECT_EQ(search.attempts[1].verdict.p99_ns, kPlainNs + kTooLongNs);
}

// Excludes rates that don't hold, and those far below.
TEST_F(MaxRateReport, StatisticsAreOfTheFoundRateAlone)
{
	write_search();
	const analysis::CellResult cell = analysis::analyse(run).cells[0];
	EXPECT_EQ(cell.blocks.unprobed, 8u) << "every block is counted";
	EXPECT_EQ(cell.blocks.probed, 5u);
	EXPECT_EQ(cell.times.latency.blocks, 4u) << "three at the rate, one a level below";
	EXPECT_EQ(cell.times.latency.count, 4 * kSentMessages);
	EXPECT_EQ(cell.times.latency.max, kPlainNs);
	EXPECT_EQ(cell.messages.sent, 7 * kSentMessages);
	EXPECT_EQ(cell.times.pacing.count, 4 * kSentMessages);
	EXPECT_EQ(cell.times.latency_probed.max, kPlainNs);
	EXPECT_EQ(cell.paths.complete(), 3 * kSentMessages);
	EXPECT_EQ(cell.paths.layers.total_ns(), 3 * kSentMessages * kPlainNs);
}

TEST_F(MaxRateReport, RunJsonIsAsTheSchemaSays)
{
	write_search();
	const auto json = nlohmann::json::parse(exports::run_json_text(analysis::analyse(run)));
	const auto schema = nlohmann::json::parse(std::ifstream(test::in_source("docs/run-schema.json")));
	for (const std::string &complaint : schema_complaints(schema, json))
		ADD_FAILURE() << complaint;
	const auto &cell = json["cells"][0];
	EXPECT_EQ(cell["pattern"], "max-rate");
	EXPECT_EQ(cell["limits"]["max_p99_ns"], 1'000'000);
	EXPECT_NEAR(cell["max_rate"]["rate_hz"].get<double>(), hz_of(kHolds), 0.001);
	EXPECT_EQ(cell["max_rate"]["attempts"].size(), 8u);
	EXPECT_EQ(cell["max_rate"]["attempts"][0]["held"], true);
	EXPECT_LE(cell["max_rate"]["rate_ci95_hz"][0], cell["max_rate"]["rate_hz"]);
	write_small_run(temporary.path("other"));
	EXPECT_TRUE(exports::run_json(analysis::analyse(temporary.path("other")))["cells"][0]["max_rate"].is_null());
}

TEST_F(MaxRateReport, TheTableHasTheRateAndSaysWhatItIs)
{
	write_search();
	const std::string text = text::terminal_report(analysis::analyse(run), {.unicode = true, .width = 400});
	EXPECT_NE(text.find("26.9k ±"), std::string::npos) << text;
	EXPECT_NE(text.find("nothing lost and a p99 of 1.00 ms at most from when a message was due"), std::string::npos)
		<< text;
	EXPECT_EQ(text.find("as fast as possible"), std::string::npos);
}

TEST_F(MaxRateReport, SaysWhereThereIsNoUpperEnd)
{
	write({{20}, {20}, {20}, {20, true}});
	const std::string text = text::terminal_report(analysis::analyse(run), {.unicode = true, .width = 400});
	EXPECT_NE(text.find("≥26.9k"), std::string::npos) << text;
	EXPECT_NE(text.find("every rate up to 26.9k msg/s held"), std::string::npos) << text;
}

TEST_F(MaxRateReport, SaysWhereNoRateWasFound)
{
	write({{40}, {30}, {21}, {21, true}});
	const analysis::RunResult result = analysis::analyse(run);
	EXPECT_EQ(result.cells[0].times.latency.count, kSentMessages) << "of the lowest rate tried";
	EXPECT_NE(text::terminal_report(result, {.unicode = true, .width = 400})
				  .find("none of 3 blocks held, down to 28.3k msg/s"),
			  std::string::npos);
}

TEST_F(MaxRateReport, SaysWhereTheRunWasTooShort)
{
	write({{20}, {21}, {20, true}});
	EXPECT_NE(
		text::terminal_report(analysis::analyse(run), {.width = 400}).find("2 blocks don't show which rate holds"),
		std::string::npos);
}

// A lossless stream that loses messages is broken at any rate.
TEST_F(MaxRateReport, WhatIsLostAtAnyRateIsAFlaw)
{
	write({{20}, {20}, {20}, {30, false, 5}, {20, true}});
	const analysis::RunResult result = analysis::analyse(run);
	EXPECT_EQ(result.cells[0].messages.lost, 0u);
	EXPECT_EQ(text::sentences(result, explain::flaws(result)),
			  std::vector<std::string>{"messages lost by transports that mustn't lose any: 5"});
}

TEST_F(MaxRateReport, HistogramsAreOfTheFoundRateAndTheTableOfMessagesIsWhole)
{
	write_search();
	const auto lines_of = [](const std::string &path) {
		std::ifstream in(path);
		std::vector<std::string> lines;
		for (std::string line; std::getline(in, line);)
			lines.push_back(line);
		return lines;
	};
	const auto paths = exports::export_run(run, {exports::ExportFormat::Hlog, exports::ExportFormat::Csv}, "");
	EXPECT_EQ(lines_of(paths[0]).size(), 3 + 4u);
	const auto messages = lines_of(paths[1]);
	EXPECT_EQ(messages.size(), 1 + 13 * (kSentMessages + 2));
	EXPECT_TRUE(messages[0].ends_with(",rate_hz,between,sampled,arm"));
	EXPECT_TRUE(messages[1].ends_with(",16406.7,processes,0,")) << messages[1];
}

} // namespace
} // namespace icepath::report
