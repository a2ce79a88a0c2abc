// SPDX-License-Identifier: Apache-2.0
// Sampled blocks: they divide the layers of others among functions, and are in nothing else.
#include "profiler/analysis/analyse.h"
#include "profiler/analysis/functions.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <sstream>

#include "profiler/analysis/flamegraph.h"
#include "profiler/exports/flame_files.h"
#include "profiler/failure.h"
#include "profiler/report/report.h"
#include "profiler/rundir/container.h"
#include "profiler/text/function_lines.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {
namespace {

constexpr uint64_t kSampledMessages = 100;

// A oneway cell with three unprobed and three probed blocks, and as many sampled ones, whose messages take 2 µs longer.
class SampledRun : public testing::Test {
protected:
	// `one_in`: of a sampled block's messages, by round.
	std::string write(bool sampled, const std::function<uint64_t(uint32_t)> &one_in = [](uint32_t) { return 4; })
	{
		model::Head head = small_head();
		head.cells.erase(head.cells.begin());
		const std::string run = temporary.path("run" + std::to_string(runs++));
		rundir::Writer writer(run, head);
		for (uint32_t round = 0; round < 9; ++round) {
			BlockPlan plan;
			plan.round = round;
			plan.probed = round % 3 > 0;
			plan.messages = messages;
			const bool has_samples = round % 3 == 2;
			plan.delay_ns = [&](uint64_t, size_t) -> uint64_t { return has_samples ? 2000 : round; };
			if (has_samples && sampled)
				writer.add(with_callers(with_samples(make_block(head.cells[0], plan), one_in(round))));
			else if (!has_samples)
				writer.add(make_block(head.cells[0], plan));
		}
		writer.finish({"2026-01-02T03:04:15Z", false, 9, {}});
		return run;
	}

	// In each stack, as user code that calls what the samples found.
	model::Block with_callers(model::Block block) const
	{
		const auto window = std::make_shared<model::Window>(*block.window);
		for (std::vector<uint32_t> &stack : window->stacks)
			for (size_t i = 0; i < callers.size(); ++i)
				stack.insert(stack.begin() + static_cast<std::ptrdiff_t>(i),
							 static_cast<uint32_t>(window->functions.size() + i));
		window->functions.insert(window->functions.end(), callers.begin(), callers.end());
		block.window = window;
		return block;
	}

	uint64_t messages = kSampledMessages; // of a block
	std::vector<std::string> callers; // from the outermost one on
	int runs = 0;
	rundir::TemporaryDirectory temporary;
};

const analysis::FunctionRow &function_of(const analysis::SampledLayer &layer, const std::string &name)
{
	static const analysis::FunctionRow kNone;
	const auto at = std::ranges::find(layer.functions, name, &analysis::FunctionRow::name);
	return at == layer.functions.end() ? kNone : *at;
}

TEST_F(SampledRun, FunctionsAddUpToTheirLayer)
{
	const analysis::RunResult result = analysis::analyse(write(true));
	const analysis::CellResult &cell = result.cells[0];
	EXPECT_EQ(cell.blocks.sampled, 3u);
	EXPECT_EQ(cell.functions.samples(), 3 * 3 * kSampledMessages) << "warm-up has no paths";
	EXPECT_NE(text::terminal_report(result, {}).find("icepath explain --stacks RUN"), std::string::npos);
	const auto layers = analysis::sampled_layers(cell.paths.layers, cell.functions);
	const auto by_layer = cell.paths.layers.by_layer();
	ASSERT_EQ(layers.size(), 2u);
	for (const analysis::SampledLayer &layer : layers) {
		double sum_ns = 0;
		for (const analysis::FunctionRow &function : layer.functions)
			sum_ns += function.mean_ns;
		EXPECT_NEAR(sum_ns, by_layer.at(layer.layer).mean_ns, 1e-6) << model::name(layer.layer);
		EXPECT_NEAR(layer.mean_ns, sum_ns, 1e-6);
	}
	// 700 ns after the send and, with interrupts off, 1100 ns after it. Its notify, from 1200 on, has none.
	EXPECT_EQ(layers[0].layer, model::Layer::SenderKernel);
	EXPECT_EQ(layers[0].samples, 2 * 3 * kSampledMessages);
	EXPECT_NEAR(function_of(layers[0], "sock_sendmsg").mean_ns, 1000 * 3.0 / 8, 1e-6);
	EXPECT_NEAR(function_of(layers[0], "kmalloc").mean_ns, 1000 * 1.0 / 8, 1e-6);
	EXPECT_NEAR(function_of(layers[0], analysis::kIrqsOff).mean_ns, 1000 * 1.0 / 2, 1e-6);
	EXPECT_NEAR(function_of(layers[0], analysis::kNotSampled).mean_ns, 300, 1e-6);
	EXPECT_EQ(function_of(layers[0], "unlock").samples, 0u);
	const double half_ns = function_of(layers[0], analysis::kIrqsOff).half_ns;
	EXPECT_NEAR(half_ns, 1000 * 1.96 * 0.5 / std::sqrt(2.0 * 3 * kSampledMessages), 1);
}

// Of 300 samples one in four is in kmalloc either way, but in the second run all of these are of one block.
TEST_F(SampledRun, WhatDiffersFromBlockToBlockIsUncertain)
{
	const auto half_of = [](const std::string &run) {
		const analysis::CellResult cell = analysis::analyse(run).cells[0];
		return function_of(analysis::sampled_layers(cell.paths.layers, cell.functions)[0], "kmalloc").half_ns;
	};
	const double alike_ns = half_of(write(true));
	const double unlike_ns = half_of(write(true, [](uint32_t round) { return round == 5 ? 1 : 1000; }));
	EXPECT_GT(alike_ns, 10);
	EXPECT_GT(unlike_ns, 10 * alike_ns);
}

TEST_F(SampledRun, FunctionsOfAllLayersAddUpToTheMessage)
{
	const analysis::CellResult cell = analysis::analyse(write(true)).cells[0];
	double sum_ns = 0, not_sampled_ns = 0;
	for (const analysis::FunctionRow &function : analysis::functions_of_message(cell.paths.layers, cell.functions)) {
		sum_ns += function.mean_ns;
		not_sampled_ns += function.name == analysis::kNotSampled ? function.mean_ns : 0;
	}
	EXPECT_NEAR(sum_ns, cell.paths.layers.mean_ns(), 1e-6);
	EXPECT_GT(not_sampled_ns, 1300) << "a layer of its own, and a part of sender.kernel";
}

TEST_F(SampledRun, CalledFunctionsAreBelowTheirCallers)
{
	const analysis::CellResult cell = analysis::analyse(write(true)).cells[0];
	const auto outermost = analysis::called_functions(cell.paths.layers, cell.functions, model::Layer::SenderKernel);
	ASSERT_EQ(outermost.size(), 2u);
	EXPECT_EQ(outermost[1].name, analysis::kNotSampled);
	EXPECT_NEAR(outermost[1].own_ns, 300, 1e-6);
	EXPECT_EQ(outermost[0].name, "entry_SYSCALL_64");
	EXPECT_NEAR(outermost[0].mean_ns, 1000, 1e-6);
	EXPECT_EQ(outermost[0].own_ns, 0);
	ASSERT_EQ(outermost[0].calls.size(), 1u);
	const analysis::CalledFunction &send = outermost[0].calls[0];
	EXPECT_EQ(send.name, "sock_sendmsg");
	EXPECT_NEAR(send.mean_ns, 1000, 1e-6);
	EXPECT_NEAR(send.own_ns, 375, 1e-6);
	ASSERT_EQ(send.calls.size(), 2u);
	EXPECT_EQ(send.calls[0].name, analysis::kIrqsOff);
	EXPECT_EQ(send.calls[1].name, "kmalloc");
	EXPECT_NEAR(send.calls[1].mean_ns, 125, 1e-6);
	EXPECT_NEAR(send.calls[1].own_ns, 125, 1e-6);
}

// The flame graph has them, and what is told of a layer of the kernel is as without.
TEST_F(SampledRun, UserCodeThatCalledTheKernelIsNoPartOfItsLayer)
{
	callers = {"app!main", "libc.so.6!send"};
	const analysis::RunResult result = analysis::analyse(write(true));
	const analysis::CellResult &cell = result.cells[0];
	const auto of_kernel = analysis::called_functions(cell.paths.layers, cell.functions, model::Layer::SenderKernel);
	ASSERT_EQ(of_kernel.size(), 2u);
	EXPECT_EQ(of_kernel[0].name, "entry_SYSCALL_64");
	EXPECT_NEAR(of_kernel[0].mean_ns, 1000, 1e-6);
	const auto of_user = analysis::called_functions(cell.paths.layers, cell.functions, model::Layer::ReceiverUser);
	ASSERT_EQ(of_user.size(), 1u);
	EXPECT_EQ(of_user[0].name, "app!main");
	const std::string text = exports::folded(
		analysis::flame_graph(result, analysis::FlameMessages::All, "", analysis::FlameFunctions::Shown));
	EXPECT_NE(text.find(";sender;app!main;libc.so.6!send;entry_SYSCALL_64;sock_sendmsg;kmalloc "), std::string::npos)
		<< text;
}

TEST(KernelFunctions, AreBelowUserCode)
{
	EXPECT_EQ(analysis::before_kernel({"app!main", "libc.so.6+0x1234", "entry_SYSCALL_64", "tcp_sendmsg"}), 2u);
	EXPECT_EQ(analysis::before_kernel({"[callers unknown]", "[vdso]", "[no file]", analysis::kNamelessKernel}), 3u);
	EXPECT_EQ(analysis::before_kernel({"app!main", analysis::kIrqsOff}), 1u);
	EXPECT_EQ(analysis::before_kernel({"ret_from_fork", "tcp_rcv.isra.0"}), 0u);
	EXPECT_EQ(analysis::before_kernel({"app!main", "app!push (inlined)"}), 2u);
}

std::string marked(std::vector<std::string> functions)
{
	analysis::mark_probes(functions);
	std::string text;
	for (const std::string &function : functions)
		text += (text.empty() ? "" : " ") + function;
	return text;
}

TEST(Probes, AreMarkedWhereTheirCodeBegins)
{
	EXPECT_EQ(marked({"schedule", "__traceiter_sched_switch", "bpf_trace_run4", "bpf_prog_1a_on_switch"}),
			  "schedule [probes] __traceiter_sched_switch bpf_trace_run4 bpf_prog_1a_on_switch");
	EXPECT_EQ(marked({"tcp_queue_rcv", "bpf_trampoline_7", "bpf_prog_1a_on_tcp", "bpf_get_current_task"}),
			  "tcp_queue_rcv [probes] bpf_trampoline_7 bpf_prog_1a_on_tcp bpf_get_current_task");
	EXPECT_EQ(marked({"tcp_queue_rcv", "bpf_trampoline_7"}), "tcp_queue_rcv [probes] bpf_trampoline_7");
	EXPECT_EQ(marked({"sock_def_readable", "ftrace_regs_call", "kprobe_ftrace_handler", "aggr_pre_handler"}),
			  "sock_def_readable [probes] ftrace_regs_call kprobe_ftrace_handler aggr_pre_handler");
	// A trampoline calls the function that it traces, which is no probe.
	EXPECT_EQ(marked({"udp_recvmsg", "bpf_trampoline_7", "__skb_recv_udp", "schedule_timeout"}),
			  "udp_recvmsg bpf_trampoline_7 __skb_recv_udp schedule_timeout");
	EXPECT_EQ(marked({"do_syscall_64", "__sys_bpf", "bpf_map_new_fd"}), "do_syscall_64 __sys_bpf bpf_map_new_fd");
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
	const analysis::RunResult result = analysis::analyse(write(true));
	const analysis::FlameGraph graph =
		analysis::flame_graph(result, analysis::FlameMessages::All, "", analysis::FlameFunctions::Shown);
	EXPECT_NEAR(graph.cells[0].layers.mean(), result.cells[0].paths.layers.mean_ns(), 1e-6);
	const std::string text = exports::folded(graph);
	uint64_t weights = 0;
	std::istringstream lines(text);
	for (std::string line; std::getline(lines, line);)
		weights += std::stoull(line.substr(line.rfind(' ') + 1));
	EXPECT_EQ(weights, result.cells[0].paths.layers.total_ns()) << text;
	const std::string stack = ";sender.kernel;sender;entry_SYSCALL_64;sock_sendmsg;";
	for (const char *last : {"(itself) 112500\n", "kmalloc 37500\n", "[irqs off] 150000\n"})
		EXPECT_NE(text.find(stack + last), std::string::npos) << last << text;
	EXPECT_NE(text.find(";receiver.user;receiver;library.so!take 90000\n"), std::string::npos) << text;
	EXPECT_EQ(exports::folded(analysis::flame_graph(result, analysis::FlameMessages::All, "")).find("kmalloc"),
			  std::string::npos);
	EXPECT_EQ(exports::folded(
				  analysis::flame_graph(result, analysis::FlameMessages::Typical, "", analysis::FlameFunctions::Shown))
				  .find("kmalloc"),
			  std::string::npos)
		<< "samples are of all messages";
}

// A run without samples has the thread's time where the other one has functions.
TEST_F(SampledRun, GraphsWithAndWithoutFunctionsCompare)
{
	const analysis::FlameGraph with = analysis::flame_graph(
		analysis::analyse(write(true)), analysis::FlameMessages::All, "", analysis::FlameFunctions::Shown);
	const analysis::FlameGraph without = analysis::flame_graph(
		analysis::analyse(write(false)), analysis::FlameMessages::All, "", analysis::FlameFunctions::Shown);
	for (const auto &[now, before] : {std::pair{&with, &without}, {&without, &with}}) {
		const analysis::FlameGraph both = analysis::compared(*now, *before, "other");
		EXPECT_NEAR(both.cells[0].layers.mean(), now->cells[0].layers.mean(), 1e-6);
		EXPECT_NEAR(both.cells[0].layers.other(), before->cells[0].layers.mean(), 1e-6);
	}
}

TEST_F(SampledRun, IsExplained)
{
	Question question;
	question.stacks = true;
	const std::string text = explanation_of(write(true), question, {.unicode = true, .width = 100}).text;
	for (const char *part : {"900 samples on messages' paths in 3 blocks", "sender.kernel", "1.30 µs, 600 samples",
							 "sock_sendmsg", analysis::kIrqsOff, "library.so!take", "wakeup 1.00"})
		EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
	EXPECT_EQ(text.find("unlock"), std::string::npos) << text;
	EXPECT_NE(text.find("entry_SYSCALL_64 > sock_sendmsg"), std::string::npos) << text;
	EXPECT_NE(text.find("message          "), std::string::npos) << text;
	EXPECT_THROW(explanation_of(write(false), question, {}), Failure);
}

// Samples are of messages with probes: who reads their functions is told if these have other modes.
TEST_F(SampledRun, SaysHowProbesChangeTheModes)
{
	analysis::RunResult result = analysis::analyse(write(true));
	const auto text_of = [&] {
		text::Page page({.unicode = true}, 100);
		text::add_functions(page, result.cells[0]);
		return page.take();
	};
	EXPECT_EQ(text_of().find("Samples are of messages with probes"), std::string::npos) << text_of();
	result.cells[0].modes.all.resize(1); // none of its messages had probes
	EXPECT_NE(text_of().find("Samples are of messages with probes"), std::string::npos) << text_of();
}

// In a run of 24 samples of the layer, each is 3 % of it.
TEST_F(SampledRun, ASingleSampleIsNoRow)
{
	Question question;
	question.stacks = true;
	messages = 4; // 2 to 5
	const auto text_of = [&](uint32_t first_round) {
		const std::string run = write(true, [&](uint32_t round) { return round >= first_round ? 5 : 1000; });
		return explanation_of(run, question, {.unicode = true, .width = 100}).text;
	};
	EXPECT_EQ(text_of(8).find("kmalloc"), std::string::npos) << text_of(8);
	EXPECT_NE(text_of(8).find("in others"), std::string::npos) << text_of(8);
	EXPECT_NE(text_of(5).find("kmalloc"), std::string::npos) << text_of(5);
}

} // namespace
} // namespace icepath::report
