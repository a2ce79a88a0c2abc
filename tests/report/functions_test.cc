// SPDX-License-Identifier: Apache-2.0
// Sampled blocks: they divide the layers of others among functions, and are in nothing else.
#include "profiler/report/functions.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "profiler/failure.h"
#include "profiler/report/flamegraph.h"
#include "profiler/report/report.h"
#include "profiler/report/run_json.h"
#include "profiler/rundir/container.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {
namespace {

constexpr uint64_t kSampledMessages = 100;

// A oneway cell with three unprobed and three probed blocks, and as many sampled ones, whose messages take 2 µs longer.
class SampledRun : public testing::Test {
protected:
	std::string write(bool sampled)
	{
		model::Head head = small_head();
		head.cells.erase(head.cells.begin());
		const std::string run = temporary.path(sampled ? "sampled" : "plain");
		rundir::Writer writer(run, head);
		for (uint32_t round = 0; round < 9; ++round) {
			BlockPlan plan;
			plan.round = round;
			plan.probed = round % 3 > 0;
			plan.messages = kSampledMessages;
			const bool has_samples = round % 3 == 2;
			plan.delay_ns = [&](uint64_t, size_t) -> uint64_t { return has_samples ? 2000 : round; };
			if (has_samples && sampled)
				writer.add(with_samples(make_block(head.cells[0], plan)));
			else if (!has_samples)
				writer.add(make_block(head.cells[0], plan));
		}
		writer.finish({"2026-01-02T03:04:15Z", false, 9, {}});
		return run;
	}

	rundir::TemporaryDirectory temporary;
};

const FunctionRow &function_of(const SampledLayer &layer, const std::string &name)
{
	static const FunctionRow kNone;
	const auto at = std::ranges::find(layer.functions, name, &FunctionRow::name);
	return at == layer.functions.end() ? kNone : *at;
}

TEST_F(SampledRun, FunctionsAddUpToTheirLayer)
{
	const RunResult result = analyse(write(true));
	const CellResult &cell = result.cells[0];
	EXPECT_EQ(cell.blocks_sampled, 3u);
	EXPECT_EQ(cell.functions.samples(), 3 * 3 * kSampledMessages) << "warm-up has no paths";
	const auto layers = sampled_layers(cell.layers, cell.functions);
	const auto by_layer = cell.layers.by_layer();
	ASSERT_EQ(layers.size(), 2u);
	for (const SampledLayer &layer : layers) {
		double sum_ns = 0;
		for (const FunctionRow &function : layer.functions)
			sum_ns += function.mean_ns;
		EXPECT_NEAR(sum_ns, by_layer.at(layer.layer).mean_ns, 1e-6) << model::name(layer.layer);
		EXPECT_NEAR(layer.mean_ns, sum_ns, 1e-6);
	}
	// 700 ns after the send and, with interrupts off, 1100 ns after it. Its notify, from 1200 on, has none.
	EXPECT_EQ(layers[0].layer, model::Layer::SenderKernel);
	EXPECT_EQ(layers[0].samples, 2 * 3 * kSampledMessages);
	EXPECT_NEAR(function_of(layers[0], "sock_sendmsg").mean_ns, 1000 * 3.0 / 8, 1e-6);
	EXPECT_NEAR(function_of(layers[0], "kmalloc").mean_ns, 1000 * 1.0 / 8, 1e-6);
	EXPECT_NEAR(function_of(layers[0], kIrqsOff).mean_ns, 1000 * 1.0 / 2, 1e-6);
	EXPECT_NEAR(function_of(layers[0], kNotSampled).mean_ns, 300, 1e-6);
	EXPECT_EQ(function_of(layers[0], "unlock").samples, 0u);
	const double half_ns = function_of(layers[0], kIrqsOff).half_ns;
	EXPECT_NEAR(half_ns, 1000 * 1.96 * 0.5 / std::sqrt(2.0 * 3 * kSampledMessages), 1);
}

TEST_F(SampledRun, SampledBlocksAreInNoOtherFigure)
{
	auto with = nlohmann::json::parse(json_of(write(true))), without = nlohmann::json::parse(json_of(write(false)));
	EXPECT_EQ(with["cells"][0]["blocks"]["sampled"], 3);
	EXPECT_EQ(with["cells"][0]["functions"]["samples"], 9 * kSampledMessages);
	EXPECT_TRUE(without["cells"][0]["functions"].is_null());
	EXPECT_GT(with["cells"][0]["functions"]["latency_ns"]["p50"], with["cells"][0]["latency_probed_ns"]["p50"]);
	for (auto *report : {&with, &without}) {
		auto &cell = (*report)["cells"][0];
		for (const char *key : {"functions", "blocks", "capture", "openings"}) // of all blocks
			cell.erase(key);
		for (const char *key : {"sent", "received"})
			cell["messages"].erase(key);
	}
	for (const auto &[key, value] : with["cells"][0].items())
		EXPECT_EQ(value, without["cells"][0][key]) << key;
}

TEST_F(SampledRun, TheFlameGraphHasFunctionsBelowThreads)
{
	const RunResult result = analyse(write(true));
	const FlameGraph graph = flame_graph(result, FlameMessages::All, "", FlameFunctions::Shown);
	EXPECT_NEAR(graph.cells[0].layers.mean(), result.cells[0].layers.mean_ns(), 1e-6);
	const std::string text = folded(graph);
	uint64_t weights = 0;
	std::istringstream lines(text);
	for (std::string line; std::getline(lines, line);)
		weights += std::stoull(line.substr(line.rfind(' ') + 1));
	EXPECT_EQ(weights, result.cells[0].layers.total_ns()) << text;
	const std::string stack = ";sender.kernel;sender;entry_SYSCALL_64;sock_sendmsg;";
	for (const char *last : {"(itself) 112500\n", "kmalloc 37500\n", "[irqs off] 150000\n"})
		EXPECT_NE(text.find(stack + last), std::string::npos) << last << text;
	EXPECT_NE(text.find(";receiver.user;receiver;library.so!take 90000\n"), std::string::npos) << text;
	EXPECT_EQ(folded(flame_graph(result, FlameMessages::All, "")).find("kmalloc"), std::string::npos);
	EXPECT_EQ(folded(flame_graph(result, FlameMessages::Typical, "", FlameFunctions::Shown)).find("kmalloc"),
			  std::string::npos)
		<< "samples are of all messages";
}

// A run without samples has the thread's time where the other one has functions.
TEST_F(SampledRun, GraphsWithAndWithoutFunctionsCompare)
{
	const FlameGraph with = flame_graph(analyse(write(true)), FlameMessages::All, "", FlameFunctions::Shown);
	const FlameGraph without = flame_graph(analyse(write(false)), FlameMessages::All, "", FlameFunctions::Shown);
	for (const auto &[now, before] : {std::pair{&with, &without}, {&without, &with}}) {
		const FlameGraph both = compared(*now, *before, "other");
		EXPECT_NEAR(both.cells[0].layers.mean(), now->cells[0].layers.mean(), 1e-6);
		EXPECT_NEAR(both.cells[0].layers.other(), before->cells[0].layers.mean(), 1e-6);
	}
}

TEST_F(SampledRun, IsExplained)
{
	Question question;
	question.stacks = true;
	const std::string text = explanation_of(write(true), question, {.unicode = true, .width = 100});
	for (const char *part : {"900 samples on messages' paths in 3 blocks", "sender.kernel", "1.30 µs, 600 samples",
							 "sock_sendmsg", kIrqsOff, "library.so!take", "wakeup 1.00"})
		EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
	EXPECT_EQ(text.find("unlock"), std::string::npos) << text;
	EXPECT_THROW(explanation_of(write(false), question, {}), Failure);
}

} // namespace
} // namespace icepath::report
