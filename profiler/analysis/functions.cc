// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/functions.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>
#include <span>
#include <string_view>

#include "profiler/path/sampled.h"
#include "profiler/stats/block_interval.h"
#include "profiler/stats/cluster_share.h"

namespace icepath::analysis {
namespace {

bool begins_with_one_of(std::string_view name, std::initializer_list<std::string_view> beginnings)
{
	return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return name.starts_with(beginning); });
}

// Code that runs for a probe alone.
bool is_probe(std::string_view name)
{
	return begins_with_one_of(name, {"bpf_prog_", "bpf_trace_run", "__bpf_prog_", "__bpf_tramp_", "__bpf_trace_",
									 "__traceiter_", "perf_trace_", "perf_syscall_", "kprobe_ftrace_handler",
									 "kprobe_int3_handler", "kretprobe_", "rethook_trampoline_handler",
									 "arch_rethook_trampoline_callback", "optimized_callback"});
}

// Code around a traced function, which it may also call.
bool is_trampoline(std::string_view name)
{
	return begins_with_one_of(name, {"bpf_trampoline_", "ftrace_trampoline", "ftrace_caller", "ftrace_regs_c",
									 "ftrace_call", "arch_ftrace_ops_list_func", "arch_rethook_trampoline"});
}

} // namespace

void mark_probes(std::vector<std::string> &functions)
{
	for (size_t i = 0; i < functions.size(); ++i) {
		const bool is_last = i + 1 == functions.size();
		if (is_probe(functions[i]) || (is_trampoline(functions[i]) &&
									   (is_last || is_probe(functions[i + 1]) || is_trampoline(functions[i + 1])))) {
			functions.insert(functions.begin() + static_cast<std::ptrdiff_t>(i), kProbes);
			return;
		}
	}
}

void leave_out_probe(std::vector<std::string> &functions)
{
	while (!functions.empty() && (is_probe(functions.back()) || is_trampoline(functions.back()) ||
								  functions.back() == kNamelessKernel)) // where BPF programs aren't told
		functions.pop_back();
}

size_t before_kernel(const std::vector<std::string> &functions)
{
	// A name of user code has a file as well, or a kind of memory in brackets.
	const auto is_of_kernel = [](const std::string &name) {
		return name.find_first_of("!+/[") == std::string::npos || name == kNamelessKernel || name == kProbes ||
			   name == kIrqsOff;
	};
	const auto kernel = std::ranges::find_if(functions, is_of_kernel);
	return static_cast<size_t>(kernel - functions.begin());
}

uint32_t Functions::number_of(const std::string &function)
{
	const auto [at, is_new] = numbers_.try_emplace(function, static_cast<uint32_t>(names_.size()));
	if (is_new)
		names_.push_back(function);
	return at->second;
}

std::vector<Functions::Frames> Functions::frames_of(const model::Window &window)
{
	std::vector<Frames> stacks;
	for (const std::vector<uint32_t> &stack : window.stacks) {
		std::vector<std::string> names;
		for (const uint32_t function : stack)
			names.push_back(window.functions[function]);
		mark_probes(names);
		Frames &frames = stacks.emplace_back();
		for (const std::string &name : names)
			frames.push_back(number_of(name));
	}
	return stacks;
}

void Functions::add(const resolve::ResolvedBlock &resolved)
{
	const auto &[number, block, seen, paths] = resolved;
	const model::Window &window = *block.window;
	const std::vector<Frames> stacks = frames_of(window);
	std::set<uint32_t> on_paths;
	for (const path::SampledSegment &one : path::sampled_segments(seen, paths, window.sample_period_ns)) {
		const path::Path &path = paths[one.delivery];
		const path::Segment &segment = path.segments[one.segment];
		const uint32_t stack = seen.samples[one.sample].stack;
		Frames functions;
		if (one.of_thread && stack != 0 && stack <= stacks.size())
			functions = stacks[stack - 1];
		else if (one.of_instant)
			functions.push_back(number_of(kNoStack));
		if (!one.of_instant) { // what called the function where interrupts came on may have called others before
			if (!functions.empty())
				functions.pop_back();
			functions.push_back(number_of(kIrqsOff));
		}
		on_paths.insert(one.sample);
		++stacks_[{segment.layer, segment.part, role_of(path, segment), thread_name(seen, segment.thread)}][functions]
				 [openings_.size()];
	}
	openings_.push_back(block.opening);
	samples_ += on_paths.size();
	dropped_ += seen.samples.size() - on_paths.size();
}

const std::string &Functions::Stack::innermost() const
{
	const auto probes = std::ranges::find(functions, kProbes);
	return probes != functions.end() && functions.back() != kIrqsOff ? *probes : functions.back();
}

std::vector<Functions::Stack> Functions::stacks_of(const LayerRow &row) const
{
	std::vector<Stack> found;
	const auto of_row = stacks_.find({row.layer, row.part, row.role, row.thread});
	if (of_row == stacks_.end())
		return found;
	for (const auto &[functions, by_block] : of_row->second) {
		Stack &stack = found.emplace_back(Stack{{}, 0, by_block});
		for (const uint32_t function : functions)
			stack.functions.push_back(names_[function]);
		for (const auto &[block, samples] : by_block)
			stack.samples += samples;
	}
	std::ranges::sort(found, {}, &Stack::functions);
	return found;
}

namespace {

// What a binomial share p of n samples may be off by at 95 %, after Agresti and Coull: not 0 for a share of 0 or 1.
double half_of_independent(double samples, double all)
{
	constexpr double kZ = 1.96;
	const double n = all + kZ * kZ, p = (samples + kZ * kZ / 2) / n;
	return kZ * std::sqrt(p * (1 - p) / n);
}

} // namespace

// Samples of one block are alike, and blocks of one opening: with too few openings for an interval, blocks are what
// varies.
double Functions::half_of_share(const std::map<size_t, uint64_t> &some, const std::map<size_t, uint64_t> &all) const
{
	std::vector<stats::Counted> blocks;
	std::set<uint32_t> openings;
	for (const auto &[block, of] : all) {
		const auto at = some.find(block);
		blocks.push_back({at == some.end() ? 0 : at->second, of, openings_.at(block)});
		openings.insert(openings_.at(block));
	}
	if (openings.size() < stats::kMinBlocks)
		for (size_t i = 0; i < blocks.size(); ++i)
			blocks[i].cluster = static_cast<uint32_t>(i);
	const stats::Share share = stats::share_of(blocks);
	const double half = half_of_independent(static_cast<double>(share.count), static_cast<double>(share.of));
	return share.interval ? std::max(half, (share.interval->high - share.interval->low) / 2) : half;
}

namespace {

using ByBlock = std::map<size_t, uint64_t>;

void add_blocks(ByBlock &sum, const ByBlock &more)
{
	for (const auto &[block, samples] : more)
		sum[block] += samples;
}

uint64_t samples_in(const ByBlock &samples)
{
	uint64_t sum = 0;
	for (const auto &[block, count] : samples)
		sum += count;
	return sum;
}

void add_layer_row(const LayerRow &row, const Functions &functions, SampledLayer &layer,
				   std::map<std::string, FunctionRow> &by_name)
{
	std::map<std::string, ByBlock> samples;
	ByBlock all;
	for (const Functions::Stack &stack : functions.stacks_of(row)) {
		add_blocks(samples[stack.innermost()], stack.by_block);
		add_blocks(all, stack.by_block);
	}
	const uint64_t sum = samples_in(all);
	layer.mean_ns += row.mean_ns;
	layer.samples += sum;
	if (sum == 0)
		by_name[kNotSampled].mean_ns += row.mean_ns;
	for (const auto &[name, by_block] : samples) {
		const uint64_t count = samples_in(by_block);
		FunctionRow &function = by_name[name];
		function.samples += count;
		function.mean_ns += row.mean_ns * static_cast<double>(count) / static_cast<double>(sum);
		function.half_ns = std::hypot(function.half_ns, row.mean_ns * functions.half_of_share(by_block, all));
	}
}

std::vector<FunctionRow> with_most_first(const std::map<std::string, FunctionRow> &by_name)
{
	std::vector<FunctionRow> rows;
	for (const auto &[name, function] : by_name)
		rows.emplace_back(function).name = name;
	std::ranges::stable_sort(rows, std::ranges::greater(), &FunctionRow::mean_ns);
	return rows;
}

} // namespace

std::vector<SampledLayer> sampled_layers(const Breakdown &layers, const Functions &functions)
{
	std::map<model::Layer, SampledLayer> by_layer;
	std::map<model::Layer, std::map<std::string, FunctionRow>> by_name;
	for (const LayerRow &row : layers.rows())
		add_layer_row(row, functions, by_layer[row.layer], by_name[row.layer]);
	std::vector<SampledLayer> sampled;
	for (auto &[id, layer] : by_layer) {
		if (layer.samples == 0)
			continue;
		layer.layer = id;
		layer.functions = with_most_first(by_name[id]);
		sampled.push_back(std::move(layer));
	}
	return sampled;
}

std::vector<FunctionRow> functions_of_message(const Breakdown &layers, const Functions &functions)
{
	SampledLayer all;
	std::map<std::string, FunctionRow> by_name;
	for (const LayerRow &row : layers.rows())
		add_layer_row(row, functions, all, by_name);
	return with_most_first(by_name);
}

namespace {

// A CalledFunction in the making: of one row of the breakdown.
struct CallsOfRow {
	ByBlock samples, own;
	std::map<std::string, CallsOfRow> calls;
};

bool is_of_user_code(model::Layer layer)
{
	return layer == model::Layer::SenderUser || layer == model::Layer::ReceiverUser || layer == model::Layer::RelayUser;
}

CallsOfRow calls_of(const std::vector<Functions::Stack> &stacks, model::Layer layer)
{
	CallsOfRow root;
	for (const Functions::Stack &stack : stacks) {
		CallsOfRow *at = &root;
		add_blocks(at->samples, stack.by_block);
		const size_t callers = is_of_user_code(layer) ? 0 : before_kernel(stack.functions);
		const bool is_known = callers < stack.functions.size(); // else it is user code after all
		for (const std::string &function : std::span(stack.functions).subspan(is_known ? callers : 0)) {
			at = &at->calls[function];
			add_blocks(at->samples, stack.by_block);
		}
		add_blocks(at->own, stack.by_block);
	}
	return root;
}

CalledFunction &called(std::vector<CalledFunction> &functions, const std::string &name)
{
	const auto at = std::ranges::find(functions, name, &CalledFunction::name);
	if (at != functions.end())
		return *at;
	functions.emplace_back().name = name;
	return functions.back();
}

void add_calls(const CallsOfRow &calls, const ByBlock &all, double row_ns, const Functions &functions,
			   std::vector<CalledFunction> &to)
{
	const double ns_each = row_ns / static_cast<double>(samples_in(all));
	for (const auto &[name, call] : calls.calls) {
		CalledFunction &function = called(to, name);
		const uint64_t samples = samples_in(call.samples);
		function.samples += samples;
		function.mean_ns += ns_each * static_cast<double>(samples);
		function.own_ns += ns_each * static_cast<double>(samples_in(call.own));
		function.half_ns = std::hypot(function.half_ns, row_ns * functions.half_of_share(call.samples, all));
		add_calls(call, all, row_ns, functions, function.calls);
	}
}

void sort_calls(std::vector<CalledFunction> &functions)
{
	std::ranges::stable_sort(functions, std::ranges::greater(), &CalledFunction::mean_ns);
	for (CalledFunction &function : functions)
		sort_calls(function.calls);
}

} // namespace

std::vector<CalledFunction> called_functions(const Breakdown &layers, const Functions &functions, model::Layer layer)
{
	std::vector<CalledFunction> outermost;
	for (const LayerRow &row : layers.rows()) {
		if (row.layer != layer)
			continue;
		const std::vector<Functions::Stack> stacks = functions.stacks_of(row);
		const CallsOfRow calls = calls_of(stacks, layer);
		if (!stacks.empty()) {
			add_calls(calls, calls.samples, row.mean_ns, functions, outermost);
			continue;
		}
		CalledFunction &rest = called(outermost, kNotSampled);
		rest.mean_ns += row.mean_ns;
		rest.own_ns += row.mean_ns;
	}
	sort_calls(outermost);
	return outermost;
}

} // namespace icepath::analysis
