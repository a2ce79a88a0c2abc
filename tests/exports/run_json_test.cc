// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/analyse.h"
#include "profiler/exports/run_json.h"

#include <fstream>
#include <gtest/gtest.h>

#include "profiler/model/cell_title.h"
#include "profiler/rundir/container.h"
#include "tests/folders.h"
#include "tests/model/own_window.h"
#include "tests/report/schema_check.h"
#include "tests/report/small_run_json.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::exports {
namespace {

using nlohmann::json;

json schema() { return json::parse(std::ifstream(test::in_source("docs/run-schema.json"))); }

using RunJsonTest = SmallRunJson;

TEST_F(RunJsonTest, IsAsTheSchemaSays)
{
	const json text = whole();
	for (const std::string &complaint : schema_complaints(schema(), text))
		ADD_FAILURE() << complaint;
	json broken = text;
	broken["cells"][0]["wait"] = "nap";
	broken["cells"][1]["messages"].erase("lost");
	broken["cells"][1]["latency_ns"]["p50"] = 1.5;
	EXPECT_EQ(schema_complaints(schema(), broken).size(), 3u) << "the check of the check";
}

TEST_F(RunJsonTest, CountsAddUp)
{
	const json run_json = whole();
	for (const json &cell : run_json["cells"]) {
		uint64_t incomplete = 0;
		for (const auto &[reason, n] : cell["messages"]["incomplete"].items())
			incomplete += n.get<uint64_t>();
		EXPECT_EQ(cell["messages"]["complete"].get<uint64_t>() + incomplete,
				  cell["messages"]["probed"].get<uint64_t>());
		EXPECT_EQ(cell["messages"]["incomplete"]["inverted_time"], 0);
	}
}

TEST_F(RunJsonTest, PercentilesThatNDoesntAllowAreNull)
{
	const json run_json = whole();
	const json &latency = run_json["cells"][1]["latency_ns"]; // 1800 messages
	EXPECT_TRUE(latency["p50"].is_number());
	EXPECT_TRUE(latency["p99"].is_number());
	EXPECT_TRUE(latency["p99_9"].is_null());
	EXPECT_EQ(latency["ci95"]["p50"].size(), 2u);
	EXPECT_TRUE(latency["ci95"]["p99_9"].is_null());
}

TEST_F(RunJsonTest, EveryCellHasItsMeasures)
{
	const json run_json = whole();
	for (const json &cell : run_json["cells"]) {
		for (const char *which : {"latency_ns", "latency_probed_ns"}) {
			EXPECT_TRUE(cell[which]["sd"].is_number());
			EXPECT_TRUE(cell[which]["mad"].is_number());
			for (const char *of : {"p99_99", "p99_999", "sd", "mad"})
				EXPECT_TRUE(cell[which].contains(of) && cell[which]["ci95"].contains(of)) << of;
			for (const char *far : {"p99_99", "p99_999"})
				EXPECT_TRUE(cell[which][far].is_null() && cell[which]["ci95"][far].is_null()) << "3600 messages";
		}
		EXPECT_EQ(cell["send_call_ns"]["p50"], 1700);
		EXPECT_EQ(cell["send_call_ns"]["p99"], 1700);
		EXPECT_EQ(cell["send_call_ns"]["mean"], 1700);
		// In each block and direction, 6 of 300 messages take 2000 to 3000 ns longer than their neighbours.
		EXPECT_NEAR(cell["jitter_ns"].get<double>(), 2.0 * 6 * 2500 / 299, 0.001);
		const json &throughput = cell["throughput"];
		EXPECT_GT(throughput["sent_per_s"].get<double>(), 50'000);
		EXPECT_NEAR(throughput["received_bytes_per_s"].get<double>(), 64 * throughput["received_per_s"].get<double>(),
					0.1);
		EXPECT_EQ(cell["messages"]["copied_after_all"], 0);
		EXPECT_EQ(cell["messages"]["late"], 0);
		EXPECT_EQ(cell["messages"]["too_late"], 0);
	}
	EXPECT_EQ(run_json["cells"][0]["lateness_ns"], (json{{"late", 5'000'000}, {"too_late", 50'000'000}}));
	EXPECT_EQ(run_json["cells"][1]["lateness_ns"], (json{{"late", 100'000}, {"too_late", 500'000}}));
}

TEST(RunJson, EachNumberOfADistributionHasItsOwnKey)
{
	analysis::RunResult result;
	stats::Distribution &latency = result.cells.emplace_back().times.latency;
	latency.count = 1'000'000;
	latency.percentiles = {1, 2, 3, 4, 5, 6};
	latency.standard_deviation = 7.5;
	latency.median_deviation = 8;
	for (size_t i = 0; i < latency.intervals.size(); ++i)
		latency.intervals[i] = stats::Interval{static_cast<double>(i), 100};
	latency.standard_deviation_interval = stats::Interval{7, 107};
	latency.median_deviation_interval = stats::Interval{8, 108};
	const json written = json::parse(run_json_text(result))["cells"][0]["latency_ns"];
	uint64_t n = 0;
	for (const char *key : {"p50", "p90", "p99", "p99_9", "p99_99", "p99_999"}) {
		EXPECT_EQ(written["ci95"][key][0], n) << key;
		EXPECT_EQ(written[key], ++n) << key;
	}
	EXPECT_EQ(written["sd"], 7.5);
	EXPECT_EQ(written["mad"], 8);
	EXPECT_EQ(written["ci95"]["sd"], json({7, 107}));
	EXPECT_EQ(written["ci95"]["mad"], json({8, 108}));
}

TEST_F(RunJsonTest, UsageIsOfBothEnds)
{
	const json first = whole();
	const json &usage = first["cells"][1]["rusage"];
	EXPECT_EQ(usage["messages"], 6 * 302);
	EXPECT_EQ(usage["sender"]["user_ns"], 6 * 302 * 1000);
	EXPECT_EQ(usage["sender"]["voluntary_switches"], 0);
	analysis::RunResult result = analysis::analyse(run);
	result.cells[1].used.totals->ends[1].max_rss_kib = 1234;
	const json second = json::parse(run_json_text(result));
	EXPECT_EQ(second["cells"][1]["rusage"]["receiver"]["max_rss_kib"], 1234);
	EXPECT_FALSE(second["cells"][1]["rusage"]["receiver"].contains("signals")) << "Linux doesn't count them";
	EXPECT_TRUE(schema_complaints(schema(), second).empty());
}

TEST_F(RunJsonTest, FanOutHasEachReceiver)
{
	whole();
	analysis::RunResult result = analysis::analyse(run);
	analysis::CellResult &cell = result.cells[1];
	cell.cell.pattern = model::Pattern::FanOut;
	cell.cell.graph = model::star(1, {0, 1, 3}, model::Between::Processes, false);
	cell.times.by_flow = {cell.times.latency, cell.times.latency};
	cell.times.to_all = cell.times.latency;
	const json told = json::parse(run_json_text(result));
	EXPECT_EQ(told["cells"][1]["cpus"], (json{{"senders", {0}}, {"receivers", {1, 3}}}));
	EXPECT_EQ(told["cells"][1]["receivers_ns"].size(), 2u);
	EXPECT_EQ(told["cells"][1]["to_all_ns"]["p50"], told["cells"][1]["latency_ns"]["p50"]);
	EXPECT_TRUE(told["cells"][1]["back_ns"].is_null());
	EXPECT_TRUE(told["cells"][0]["receivers_ns"].is_null());
	EXPECT_TRUE(schema_complaints(schema(), told).empty());
}

TEST_F(RunJsonTest, FanInHasEachSender)
{
	whole();
	analysis::RunResult result = analysis::analyse(run);
	analysis::CellResult &cell = result.cells[1];
	cell.cell.pattern = model::Pattern::FanIn;
	cell.cell.graph = model::star(2, {0, 3, 1}, model::Between::Processes, false);
	cell.times.by_flow = {cell.times.latency, cell.times.latency_probed};
	const json told = json::parse(run_json_text(result));
	const json &fan_in = told["cells"][1];
	EXPECT_EQ(fan_in["cpus"], (json{{"senders", {0, 3}}, {"receivers", {1}}}));
	ASSERT_EQ(fan_in["senders_ns"].size(), 2u);
	EXPECT_EQ(fan_in["senders_ns"][1], fan_in["latency_probed_ns"]);
	EXPECT_TRUE(fan_in["receivers_ns"].is_null());
	EXPECT_TRUE(told["cells"][0]["senders_ns"].is_null());
	EXPECT_TRUE(schema_complaints(schema(), told).empty());
}

TEST_F(RunJsonTest, PatternsHaveWhatTheyHave)
{
	const json run_json = whole();
	const json &pingpong = run_json["cells"][0], &oneway = run_json["cells"][1];
	EXPECT_EQ(pingpong["between"], "processes");
	EXPECT_EQ(pingpong["rate_hz"], nullptr);
	EXPECT_TRUE(pingpong["round_trip_ns"].is_object());
	EXPECT_TRUE(pingpong["forward_ns"].is_object());
	EXPECT_TRUE(pingpong["pacing_ns"].is_null());
	EXPECT_EQ(oneway["rate_hz"], 2000);
	EXPECT_TRUE(oneway["round_trip_ns"].is_null());
	EXPECT_TRUE(oneway["pacing_ns"].is_object());
	EXPECT_EQ(oneway["observer_effect"]["p50_added_ns"], 200);
}

TEST_F(RunJsonTest, TheWorstMessagesSegmentsTileItsLatency)
{
	const json run_json = whole();
	const json &worst = run_json["cells"][0]["worst"];
	EXPECT_EQ(worst["latency_ns"], kPlainNs + 381'000);
	uint64_t at = 0;
	bool named = false;
	for (const json &segment : worst["segments"]) {
		EXPECT_EQ(segment["begin_ns"], at);
		at += segment["duration_ns"].get<uint64_t>();
		named = named || segment["culprit"] == "kworker/1:2";
	}
	EXPECT_EQ(at, worst["latency_ns"].get<uint64_t>());
	EXPECT_TRUE(named);
}

TEST_F(RunJsonTest, CulpritsAddUpToTheirSums)
{
	const json run_json = whole();
	for (const char *list : {"culprits", "tail_culprits"}) {
		uint64_t rows_ns = 0;
		for (const json &row : run_json["cells"][0][list])
			rows_ns += row["total_ns"].get<uint64_t>();
		const json &sums = run_json["cells"][0][std::string(list) + "_sum_ns"];
		EXPECT_EQ(rows_ns, sums["total"]) << list;
		EXPECT_GT(rows_ns, 0u) << list;
		EXPECT_EQ(sums["total"], sums["waiting_for_cpu"].get<uint64_t>() + sums["interrupted"].get<uint64_t>() +
									 sums["asleep"].get<uint64_t>());
	}
	for (const json &segment : run_json["cells"][0]["worst"]["segments"]) {
		uint64_t shares_ns = 0;
		for (const json &share : segment["shares"])
			shares_ns += share["ns"].get<uint64_t>();
		const bool waits = segment["layer"].get<std::string>().starts_with("runqueue");
		EXPECT_EQ(shares_ns, waits ? segment["duration_ns"].get<uint64_t>() : 0u);
	}
}

TEST_F(RunJsonTest, ARunWithoutBlocksIsStillARun)
{
	{
		rundir::Writer writer(run, small_head());
	}
	const json run_json = json::parse(run_json_text(analysis::analyse(run)));
	EXPECT_TRUE(schema_complaints(schema(), run_json).empty()) << schema_complaints(schema(), run_json).front();
	EXPECT_EQ(run_json["icepath"]["partial"], true);
	EXPECT_EQ(run_json["icepath"]["valid"], false);
	for (const char *key : {"latency_ns", "latency_probed_ns", "jitter_ns", "send_call_ns", "rusage",
							"cpu_ns_per_message", "layers", "layers_mean_ns", "layers_sum_error_ns", "typical_layers",
							"tail_layers", "culprits", "culprits_sum_ns", "worst"})
		EXPECT_TRUE(run_json["cells"][0].contains(key) && run_json["cells"][0][key].is_null()) << key;
	for (const char *key : {"sent_per_s", "received_per_s", "sent_bytes_per_s", "received_bytes_per_s"})
		EXPECT_TRUE(run_json["cells"][0]["throughput"].at(key).is_null()) << key;
	EXPECT_NE(run_json["notices"].dump().find("the run isn't finished"), std::string::npos);
	EXPECT_EQ(run_json["findings"][0]["id"], "run_unfinished");
}

// Every key of the schema is there, and no other one.
TEST_F(RunJsonTest, TheSchemaIsStrict)
{
	const json text = whole();
	const auto complaints_with = [&](const std::string &place, const char *key) {
		json more = text;
		more.at(json::json_pointer(place))[key] = 1;
		return schema_complaints(schema(), more).size();
	};
	for (const char *place : {"", "/icepath", "/host", "/isolation", "/machine_state", "/cells/0", "/cells/0/factors",
							  "/cells/0/layers/0", "/cells/0/latency_ns", "/cells/0/latency_ns/ci95", "/ranking/0"})
		EXPECT_EQ(complaints_with(place, "unknown"), 1u) << place;
	json large = text;
	large["cells"][0]["messages"]["sent"] = (uint64_t{1} << 53) + 1;
	EXPECT_EQ(schema_complaints(schema(), large).size(), 1u) << "not all readers of JSON hold it exactly";
}

TEST_F(RunJsonTest, NumbersThatMayPassTwoToThe53AreTexts)
{
	whole();
	analysis::RunResult result = analysis::analyse(run);
	analysis::CellResult &cell = result.cells[0];
	const uint64_t begin = cell.followed.slowest[0].path.send_ns, late = (uint64_t{1} << 60) + 1;
	cell.followed.slowest[0].path.send_ns += late;
	cell.followed.slowest[0].path.recv_ns += late;
	for (path::Segment &segment : cell.followed.slowest[0].path.segments)
		for (uint64_t *at :
			 {&segment.begin.at_ns, &segment.end.at_ns, &segment.end.earliest_ns, &segment.end.latest_ns})
			*at += late;
	cell.cell.qos[ICEPATH_QOS_LIFESPAN] = late;
	cell.cell.qos[ICEPATH_QOS_DEADLINE] = ICEPATH_QOS_INFINITE;
	const json told = json::parse(run_json_text(result));
	EXPECT_EQ(told["cells"][0]["worst"]["send_monotonic_ns"], std::to_string(begin + late));
	EXPECT_EQ(told["cells"][0]["qos"]["asked"]["lifespan_ns"], std::to_string(late));
	EXPECT_EQ(told["cells"][0]["qos"]["asked"]["deadline_ns"], "infinite");
	EXPECT_TRUE(told["cells"][0]["qos"]["asked"]["depth"].is_null());
	EXPECT_EQ(schema_complaints(schema(), told), std::vector<std::string>());
}

TEST_F(RunJsonTest, AKeyNamesACellInAnyRun)
{
	const json told = whole();
	EXPECT_EQ(told["cells"][0]["key"], "uds-stream pingpong block processes 64B own");
	EXPECT_EQ(told["cells"][1]["key"], "uds-stream oneway block processes 64B own rate_hz=2000");
	EXPECT_EQ(told["ranking"][0]["cells"][0]["cell"], told["cells"][0]["key"]);
	model::Cell cell;
	cell.target = "fastdds/udp";
	cell.pattern = model::Pattern::ReqRep;
	cell.levels.responses = 10;
	cell.levels.sender_user_ns = 20'000;
	cell.qos[ICEPATH_QOS_DEPTH] = 16;
	cell.idle_states = model::IdleStates::Held;
	const std::string key =
		"fastdds/udp reqrep block processes 64B held responses=10 sender_user_ns=20000 qos=(depth 16)";
	EXPECT_EQ(model::text(model::key_of(cell)), key);
	EXPECT_EQ(model::parsed_key(key), model::key_of(cell));
}

TEST_F(RunJsonTest, TellsItsArms)
{
	whole();
	analysis::RunResult result = analysis::analyse(run);
	EXPECT_EQ(json::parse(run_json_text(result))["arms"], json::array());
	result.head.arms = rundir::head_with_arms().arms;
	result.cells[0].cell.arm = "old";
	const json told = json::parse(run_json_text(result));
	EXPECT_EQ(schema_complaints(schema(), told), std::vector<std::string>());
	EXPECT_EQ(told["cells"][0]["arm"], "old");
	EXPECT_EQ(told["cells"][0]["key"], "uds-stream pingpong block processes 64B own arm=old");
	EXPECT_TRUE(told["cells"][1]["arm"].is_null());
	EXPECT_EQ(told["arms"][0]["loaded"][0]["build_id"], "0123abcd");
	EXPECT_TRUE(told["arms"][0]["loaded"][0]["version"].is_null());
	EXPECT_EQ(told["arms"][1]["control"], true);
	EXPECT_TRUE(told["arms"][1]["config"].is_null());
}

TEST_F(RunJsonTest, WhatIsNotKnownOfTheMachineIsNull)
{
	analysis::RunResult result;
	const json told = json::parse(run_json_text(result));
	for (const char *key : {"hostname", "preempt_rt", "memory_bytes", "user"})
		EXPECT_TRUE(told["host"].at(key).is_null()) << key;
	for (const char *key : {"level", "sender_cpu", "steps", "items", "why"})
		EXPECT_TRUE(told["isolation"].at(key).is_null()) << key;
	for (const char *key : {"steal", "cache_line", "interference", "untraced_interrupts"})
		EXPECT_TRUE(told["machine_state"].at(key).is_null()) << key;
	EXPECT_EQ(schema_complaints(schema(), told), std::vector<std::string>());
}

TEST_F(RunJsonTest, OneThreadUsesNothingTwice)
{
	whole();
	analysis::RunResult result = analysis::analyse(run);
	result.cells[0].cell.graph = model::star(1, {0, 0}, model::Between::OneThread, true);
	const json told = json::parse(run_json_text(result))["cells"][0];
	for (const char *key : {"cpu_ns_per_message", "rusage"}) {
		EXPECT_TRUE(told[key]["sender"].is_object()) << key;
		EXPECT_TRUE(told[key]["receiver"].is_null()) << key;
	}
}

TEST_F(RunJsonTest, NamesThatAreNoUtf8DontBreakIt)
{
	const auto cell = socket_cell(model::Pattern::OneWay);
	BlockPlan plan;
	plan.cell = 1;
	plan.probed = true;
	plan.delay_ns = [](uint64_t, size_t) { return 50; };
	model::Block block = make_block(cell, plan);
	for (auto &record : own_window(block).slots[1].records)
		if (record.type == ICEPATH_RECORD_FOREIGN_RUN)
			record.run.comm[0] = '\xff';
	{
		rundir::Writer writer(run, small_head());
		writer.add(block);
		writer.finish({});
	}
	EXPECT_NO_THROW(json::parse(run_json_text(analysis::analyse(run))));
}

} // namespace
} // namespace icepath::exports
