// SPDX-License-Identifier: Apache-2.0
// The layers in run.json: what they add up to, their parts and their intervals.
#include "profiler/report/run_json.h"
#include "profiler/rundir/container.h"
#include "tests/model/own_window.h"
#include "tests/report/schema_check.h"
#include "tests/report/small_run_json.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"
#include <fstream>
#include <gtest/gtest.h>

namespace icepath::report {
namespace {

using nlohmann::json;
using LayersJson = SmallRunJson;

TEST_F(LayersJson, WholeLayersAddUpToTheMeanLatency)
{
	const json run_json = whole();
	for (const json &cell : run_json["cells"])
		for (const char *which : {"layers", "typical_layers", "tail_layers"}) {
			double share = 0, mean = 0;
			uint64_t total = 0;
			for (const json &layer : cell[which])
				if (layer["part_of"].is_null()) {
					EXPECT_EQ(layer["layer"].get<std::string>().find('/'), std::string::npos);
					share += layer["share"].get<double>();
					mean += layer["mean_ns"].get<double>();
					total += layer["total_ns"].get<uint64_t>();
				}
			EXPECT_NEAR(share, 1, 1e-9);
			if (which == std::string("layers")) {
				EXPECT_NEAR(mean, cell["latency_probed_ns"]["mean"].get<double>(), 0.01);
				EXPECT_EQ(total % cell["messages"]["complete"].get<uint64_t>() == 0, mean == std::floor(mean));
			}
			EXPECT_EQ(cell["layers_sum_error_ns"], 0);
		}
}

TEST_F(LayersJson, APartHasItsOwnEntryBehindItsLayer)
{
	const json run_json = whole();
	const json &layers = run_json["cells"][1]["layers"];
	const auto at = std::find_if(layers.begin(), layers.end(),
								 [](const json &one) { return one["layer"] == "sender.kernel/notify"; });
	ASSERT_NE(at, layers.end());
	EXPECT_EQ((*at)["part"], "notify");
	EXPECT_EQ((*at)["part_of"], "sender.kernel");
	EXPECT_NEAR((*at)["mean_ns"].get<double>(), 300, 1e-9);
}

// Adds up a breakdown as a script would: every entry whose part_of is null, and no other.
TEST_F(LayersJson, EntriesThatArePartOfNothingAddUpToTheWholeLatency)
{
	const json run_json = whole();
	const RunResult result = analyse(run);
	for (size_t i = 0; i < result.cells.size(); ++i)
		for (const auto &[key, breakdown] :
			 {std::pair<const char *, const Breakdown *>{"layers", &result.cells[i].layers},
			  {"typical_layers", &result.cells[i].typical->layers},
			  {"tail_layers", &result.cells[i].tail->layers}}) {
			uint64_t layers = 0, all = 0;
			for (const json &entry : run_json["cells"][i][key]) {
				all += entry["total_ns"].get<uint64_t>();
				if (entry["part_of"].is_null())
					layers += entry["total_ns"].get<uint64_t>();
				else
					EXPECT_EQ(entry["layer"],
							  entry["part_of"].get<std::string>() + "/" + entry["part"].get<std::string>());
			}
			EXPECT_EQ(layers, breakdown->total_ns());
			EXPECT_GT(all, layers) << "the check of the check: this run has parts";
		}
}

TEST_F(LayersJson, ASplitOfCpuTimeSaysWhetherItWasMeasured)
{
	const json ticking = whole();
	const json &sampled = ticking["cells"][0]["cpu_ns_per_message"]["sender"];
	EXPECT_EQ(sampled["split"], "sampled");
	EXPECT_NEAR(sampled["total"].get<double>(), sampled["user"].get<double>() + sampled["system"].get<double>(), 0.002);
	model::Head head = small_head();
	head.isolation_json = R"({"items":[{"name":"timer_tick","quiet":true}]})";
	EXPECT_TRUE(cpu_split_is_exact(head));
	for (const char *unknown :
		 {"", "{}", "[]", R"({"items":[1,{"name":"timer_tick"}]})", R"({"items":[{"name":"clock","quiet":true}]})"}) {
		head.isolation_json = unknown;
		EXPECT_FALSE(cpu_split_is_exact(head)) << unknown;
	}
}

TEST(RunJson, AWholeLayerHoldsItsParts)
{
	RunResult result;
	result.head.host_json = result.head.isolation_json = "{}";
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
	result.cells.emplace_back().layers.add(path, seen);
	const json layers = json::parse(run_json_text(result))["cells"][0]["layers"];
	ASSERT_EQ(layers.size(), 3u);
	EXPECT_EQ(layers[0]["layer"], "wakeup");
	EXPECT_EQ(layers[0]["total_ns"], 100);
	EXPECT_EQ(layers[0]["share"], 1);
	EXPECT_EQ(layers[0]["provenance"]["exact"], 1);
	EXPECT_EQ(layers[1]["layer"], "wakeup/ipi");
	EXPECT_EQ(layers[1]["total_ns"], 20);
	EXPECT_EQ(layers[2]["layer"], "wakeup/idle_exit");
}

// If each block is one piece of evidence, layers and parts have intervals.
TEST_F(LayersJson, LayersHaveIntervals)
{
	const json run_json = whole();
	for (const json &cell : run_json["cells"]) {
		for (const char *which : {"layers", "tail_layers"})
			for (const json &layer : cell[which]) {
				ASSERT_EQ(layer["ci95"].size(), 2u) << layer.dump();
				EXPECT_LE(layer["ci95"][0].get<double>(), layer["mean_ns"].get<double>() + 0.001);
				EXPECT_GE(layer["ci95"][1].get<double>(), layer["mean_ns"].get<double>() - 0.001);
			}
		EXPECT_TRUE(cell["typical_layers"][0]["ci95"].is_null()) << "they are of two blocks";
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
	EXPECT_EQ(effect["mean_ci95"].size(), 2u);
	EXPECT_TRUE(effect["p99_added_ns"].is_null() && effect["p99_ci95"].is_null()) << "300 messages of a block";
}

} // namespace
} // namespace icepath::report
