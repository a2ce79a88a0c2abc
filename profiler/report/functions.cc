// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/functions.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "profiler/path/sampled.h"

namespace icepath::report {

uint32_t Functions::number_of(const std::string &function)
{
	const auto [at, is_new] = numbers_.try_emplace(function, static_cast<uint32_t>(names_.size()));
	if (is_new)
		names_.push_back(function);
	return at->second;
}

void Functions::add(const resolve::ResolvedBlock &resolved)
{
	const auto &[number, block, seen, paths] = resolved;
	const model::Window &window = *block.window;
	std::set<uint32_t> on_paths;
	for (const path::SampledSegment &one : path::sampled_segments(seen, paths, window.sample_period_ns)) {
		const path::Path &path = paths[one.delivery];
		const path::Segment &segment = path.segments[one.segment];
		const uint32_t stack = seen.samples[one.sample].stack;
		std::vector<uint32_t> functions;
		if (one.of_thread && stack != 0 && stack <= window.stacks.size())
			for (const uint32_t function : window.stacks[stack - 1])
				functions.push_back(number_of(window.functions[function]));
		else if (one.of_instant)
			functions.push_back(number_of(kNoStack));
		if (!one.of_instant) { // what called the function where interrupts came on may have called others before
			if (!functions.empty())
				functions.pop_back();
			functions.push_back(number_of(kIrqsOff));
		}
		on_paths.insert(one.sample);
		++stacks_[{segment.layer, segment.part, role_of(path, segment), thread_name(seen, segment.thread)}][functions];
	}
	samples_ += on_paths.size();
	dropped_ += seen.samples.size() - on_paths.size();
}

std::vector<Functions::Stack> Functions::stacks_of(const LayerRow &row) const
{
	std::vector<Stack> found;
	const auto of_row = stacks_.find({row.layer, row.part, row.role, row.thread});
	if (of_row == stacks_.end())
		return found;
	for (const auto &[functions, samples] : of_row->second) {
		Stack &stack = found.emplace_back(Stack{{}, samples});
		for (const uint32_t function : functions)
			stack.functions.push_back(names_[function]);
	}
	std::ranges::sort(found, {}, &Stack::functions);
	return found;
}

namespace {

// What a binomial share p of n samples may be off by at 95 %, after Agresti and Coull: not 0 for a share of 0 or 1.
double half_of_share(uint64_t samples, uint64_t all)
{
	constexpr double kZ = 1.96;
	const double n = static_cast<double>(all) + kZ * kZ, p = (static_cast<double>(samples) + kZ * kZ / 2) / n;
	return kZ * std::sqrt(p * (1 - p) / n);
}

void add_row(const LayerRow &row, const Functions &functions, SampledLayer &layer,
			 std::map<std::string, FunctionRow> &by_name)
{
	std::map<std::string, uint64_t> samples;
	uint64_t all = 0;
	for (const Functions::Stack &stack : functions.stacks_of(row)) {
		samples[stack.functions.back()] += stack.samples;
		all += stack.samples;
	}
	layer.mean_ns += row.mean_ns;
	layer.samples += all;
	if (all == 0)
		by_name[kNotSampled].mean_ns += row.mean_ns;
	for (const auto &[name, count] : samples) {
		FunctionRow &function = by_name[name];
		function.samples += count;
		function.mean_ns += row.mean_ns * static_cast<double>(count) / static_cast<double>(all);
		function.half_ns = std::hypot(function.half_ns, row.mean_ns * half_of_share(count, all));
	}
}

} // namespace

std::vector<SampledLayer> sampled_layers(const Breakdown &layers, const Functions &functions)
{
	std::map<model::Layer, SampledLayer> by_layer;
	std::map<model::Layer, std::map<std::string, FunctionRow>> by_name;
	for (const LayerRow &row : layers.rows())
		add_row(row, functions, by_layer[row.layer], by_name[row.layer]);
	std::vector<SampledLayer> sampled;
	for (auto &[id, layer] : by_layer) {
		if (layer.samples == 0)
			continue;
		layer.layer = id;
		for (auto &[name, function] : by_name[id]) {
			function.name = name;
			layer.functions.push_back(function);
		}
		std::ranges::stable_sort(layer.functions, std::ranges::greater(), &FunctionRow::mean_ns);
		sampled.push_back(std::move(layer));
	}
	return sampled;
}

} // namespace icepath::report
