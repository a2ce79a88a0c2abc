// SPDX-License-Identifier: Apache-2.0
// The layers in run.json: what they add up to, their parts and their intervals.
#include "profiler/analysis/analyse.h"
#include "profiler/exports/run_json.h"
#include "profiler/rundir/container.h"
#include "tests/report/small_run_json.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"
#include <fstream>
#include <gtest/gtest.h>

namespace icepath::exports {
namespace {

using nlohmann::json;
using LayersJson = SmallRunJson;

// The means of layers, and of parts if these are asked for, added up as a script would.
double sum_of(const json &layers)
{
	double mean_ns = 0;
	for (const json &layer : layers)
		mean_ns += layer["mean_ns"].get<double>();
	return mean_ns;
}

constexpr const char *kLists[] = {"layers", "typical_layers", "tail_layers"};

TEST_F(LayersJson, AddUpToTheMeanThatStandsBesideThem)
{
	const json run_json = whole();
	for (const json &cell : run_json["cells"]) {
		for (const char *which : kLists) {
			double share = 0;
			for (const json &layer : cell[which]) {
				EXPECT_EQ(layer["layer"].get<std::string>().find('/'), std::string::npos);
				share += layer["share"].get<double>();
			}
			EXPECT_NEAR(share, 1, 1e-9);
			EXPECT_NEAR(sum_of(cell[which]), cell[std::string(which) + "_mean_ns"].get<double>(), 0.001) << which;
		}
		EXPECT_NEAR(sum_of(cell["layers"]), cell["latency_probed_ns"]["mean"].get<double>(), 0.001);
		EXPECT_EQ(cell["layers_sum_error_ns"], 0);
	}
}

// Slow blocks end early: each message counts the same nevertheless, in layers as in the latency.
TEST_F(LayersJson, AddUpToTheMeanWhereBlocksHaveUnequallyManyMessages)
{
	const auto cell = socket_cell(model::Pattern::PingPong);
	{
		rundir::Writer writer(run, small_head());
		for (uint32_t round = 0; round < 12; ++round) {
			BlockPlan plan;
			plan.round = round;
			plan.probed = round % 2 == 1;
			plan.messages = round % 4 == 1 ? 30 : 300;
			const uint64_t delay_ns = round % 4 == 1 ? 50'000 : 0;
			plan.delay_ns = [delay_ns](uint64_t, size_t) { return delay_ns; };
			writer.add(make_block(cell, plan));
		}
		writer.finish({});
	}
	const analysis::RunResult result = analysis::analyse(run);
	const json told = json::parse(run_json_text(result))["cells"][0];
	const json &latency = told["latency_probed_ns"];
	const double fast_ns = kPlainNs, slow_ns = kPlainNs + 50'000;
	EXPECT_NEAR(latency["mean"].get<double>(), (300 * fast_ns + 30 * slow_ns) / 330, 1);
	EXPECT_NEAR(latency["mean_by_block"].get<double>(), (fast_ns + slow_ns) / 2, 1);
	EXPECT_NEAR(sum_of(told["layers"]), latency["mean"].get<double>(), 0.001);
	EXPECT_EQ(told["layers_mean_ns"], latency["mean"]);
	const json notices = json::parse(run_json_text(result))["notices"];
	EXPECT_NE(notices.dump().find("blocks have different numbers of messages"), std::string::npos) << notices;
}

TEST_F(LayersJson, APartStandsWithinItsLayer)
{
	const json run_json = whole();
	const json &layers = run_json["cells"][1]["layers"];
	const auto at = std::find_if(layers.begin(), layers.end(), [](const json &one) { return !one["parts"].empty(); });
	ASSERT_NE(at, layers.end());
	EXPECT_EQ((*at)["layer"], "sender.kernel");
	EXPECT_EQ((*at)["parts"][0]["part"], "notify");
	EXPECT_NEAR((*at)["parts"][0]["mean_ns"].get<double>(), 300, 1e-9);
	EXPECT_GE((*at)["mean_ns"], (*at)["parts"][0]["mean_ns"]);
}

// Times the number of messages, means are whole nanoseconds again, and none is missing.
TEST_F(LayersJson, HaveEachNanosecond)
{
	const json run_json = whole();
	const analysis::RunResult result = analysis::analyse(run);
	for (size_t i = 0; i < result.cells.size(); ++i)
		for (const auto &[key, breakdown] :
			 {std::pair<const char *, const analysis::Breakdown *>{"layers", &result.cells[i].paths.layers},
			  {"typical_layers", &result.cells[i].ranges.typical->layers},
			  {"tail_layers", &result.cells[i].ranges.tail->layers}}) {
			const auto messages = static_cast<double>(breakdown->deliveries());
			uint64_t total_ns = 0;
			for (const json &layer : run_json["cells"][i][key]) {
				const double ns = layer["mean_ns"].get<double>() * messages;
				EXPECT_NEAR(ns, std::round(ns), 1e-3);
				total_ns += static_cast<uint64_t>(std::llround(ns));
			}
			EXPECT_EQ(total_ns, breakdown->total_ns());
		}
}

TEST_F(LayersJson, ASplitOfCpuTimeSaysWhetherItWasMeasured)
{
	const json ticking = whole();
	const json &sampled = ticking["cells"][0]["cpu_ns_per_message"]["sender"];
	EXPECT_EQ(sampled["split"], "sampled");
	EXPECT_NEAR(sampled["total"].get<double>(), sampled["user"].get<double>() + sampled["system"].get<double>(), 0.002);
	model::Head head = small_head();
	const auto item = [](const char *name, bool quiet) { return model::Disturbance{name, quiet, "", "", ""}; };
	head.isolation.items = {item("timer_tick", true)};
	EXPECT_TRUE(analysis::cpu_split_is_exact(head));
	head.isolation.items = {item("timer_tick", false), item("clock", true)};
	EXPECT_FALSE(analysis::cpu_split_is_exact(head));
	head.isolation.items.reset();
	EXPECT_FALSE(analysis::cpu_split_is_exact(head)) << "not looked at";
}

TEST(RunJson, AWholeLayerHoldsItsParts)
{
	analysis::RunResult result;
	path::Observations seen;
	seen.threads[1].name = "rx";
	path::Path path;
	path::Boundary at;
	for (const auto &[part, ns] : {std::pair<model::Part, uint64_t>{model::Part::None, 30},
								   {model::Part::Ipi, 20},
								   {model::Part::IdleExit, 50}}) {
		path::Segment segment{model::Layer::Wakeup, part, 1, 1, at, at, {}};
		segment.end.at_ns += ns;
		at = segment.end;
		path.segments.push_back(segment);
	}
	path.recv_ns = 100;
	result.cells.emplace_back().paths.layers.add(path, seen);
	const json layers = json::parse(run_json_text(result))["cells"][0]["layers"];
	ASSERT_EQ(layers.size(), 1u);
	EXPECT_EQ(layers[0]["layer"], "wakeup");
	EXPECT_EQ(layers[0]["mean_ns"], 100);
	EXPECT_EQ(layers[0]["share"], 1);
	EXPECT_EQ(layers[0]["provenance"]["exact"], 1);
	const json &parts = layers[0]["parts"];
	ASSERT_EQ(parts.size(), 2u);
	EXPECT_EQ(parts[0]["part"], "ipi");
	EXPECT_EQ(parts[0]["mean_ns"], 20);
	EXPECT_EQ(parts[0]["share"], 0.2);
	EXPECT_EQ(parts[1]["part"], "idle_exit");
}

// If each block is one piece of evidence, layers and parts have intervals.
TEST_F(LayersJson, LayersHaveIntervals)
{
	const json run_json = whole();
	for (const json &cell : run_json["cells"]) {
		for (const char *which : {"layers", "tail_layers"})
			for (const json &layer : cell[which]) {
				ASSERT_EQ(layer["mean_ci95_ns"].size(), 2u) << layer.dump();
				EXPECT_LE(layer["mean_ci95_ns"][0].get<double>(), layer["mean_ns"].get<double>() + 0.001);
				EXPECT_GE(layer["mean_ci95_ns"][1].get<double>(), layer["mean_ns"].get<double>() - 0.001);
			}
		EXPECT_TRUE(cell["typical_layers"][0]["mean_ci95_ns"].is_null()) << "they are of two blocks";
		for (const char *which : {"typical_messages", "tail_messages"}) {
			EXPECT_GT(cell[which]["of"], 0);
			EXPECT_EQ(cell[which]["of"], cell[which]["known"]);
		}
		EXPECT_LE(cell["typical_from_ns"], cell["latency_probed_ns"]["p50"]);
		EXPECT_GE(cell["typical_to_ns"], cell["latency_probed_ns"]["p50"]);
		EXPECT_EQ(cell["blocks"]["log_full"], 0);
	}
	EXPECT_TRUE(run_json["cells"][0]["latency_from_due_ns"].is_null()) << "nothing is due in a pingpong";
	EXPECT_EQ(run_json["cells"][1]["latency_from_due_ns"], run_json["cells"][1]["latency_ns"]) << "sent when due";
	const json &effect = run_json["cells"][1]["observer_effect"];
	EXPECT_EQ(effect["mean_added_ns"], 200);
	EXPECT_EQ(effect["mean_added_ci95_ns"].size(), 2u);
	EXPECT_TRUE(effect["p99_added_ns"].is_null() && effect["p99_added_ci95_ns"].is_null()) << "300 messages of a block";
}

} // namespace
} // namespace icepath::exports
