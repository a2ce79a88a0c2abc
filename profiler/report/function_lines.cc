// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/function_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "profiler/model/cell_title.h"
#include "profiler/model/printable.h"
#include "profiler/report/functions.h"
#include "profiler/report/quantity.h"

namespace icepath::report {
namespace {

constexpr size_t kMostFunctions = 10; // of a layer
constexpr double kLeastShare = 0.01; // of it

void add_layer(Page &page, const SampledLayer &layer)
{
	page.line(page.spelled(fmt::format("  {} {} µs, {} samples", pad_right(std::string(model::name(layer.layer)), 16),
									   pad_left(microseconds(layer.mean_ns), 7), count(layer.samples))));
	constexpr size_t kBeforeName = 31, kShortestName = 20; // columns
	const auto row = [&](double ns, const std::string &half, const std::string &name) {
		const std::string shown =
			model::printable(name, std::max(page.width(), kBeforeName + kShortestName) - kBeforeName);
		page.line(page.spelled(fmt::format("    {} {} {}  {}", pad_left(microseconds(ns), 8), pad_right(half, 8),
										   pad_left(percent(ns / layer.mean_ns), 7), shown)));
	};
	double others_ns = 0;
	size_t shown = 0, others = 0;
	for (const FunctionRow &function : layer.functions)
		if (shown < kMostFunctions && function.mean_ns >= kLeastShare * layer.mean_ns) {
			++shown;
			row(function.mean_ns,
				function.samples > 0 ? " ±" + microseconds_beside(function.half_ns, function.mean_ns) : "",
				function.name);
		} else {
			++others;
			others_ns += function.mean_ns;
		}
	if (others > 0)
		row(others_ns, "", fmt::format("{} others", others));
}

} // namespace

std::string cost_of_samples(const CellResult &cell)
{
	const auto &with = cell.latency_sampled.percentiles[0], &without = cell.latency_probed.percentiles[0];
	if (!with || !without)
		return "";
	return fmt::format("messages take {} (p50) in blocks with samples, {} in others with probes",
					   duration(static_cast<double>(*with)), duration(static_cast<double>(*without)));
}

void add_functions(Page &page, const CellResult &cell)
{
	page.heading(model::title(cell.cell));
	std::string cost = cost_of_samples(cell);
	if (!cost.empty())
		cost.insert(0, "; ");
	page.paragraph("",
				   fmt::format("{} samples on messages' paths in {} blocks{}", count(cell.functions.samples()),
							   cell.blocks_sampled, cost),
				   2);
	const std::vector<SampledLayer> layers = sampled_layers(cell.layers, cell.functions);
	std::set<model::Layer> sampled;
	for (const SampledLayer &layer : layers) {
		add_layer(page, layer);
		sampled.insert(layer.layer);
	}
	std::string others;
	for (const auto &[layer, row] : cell.layers.by_layer())
		if (!sampled.contains(layer))
			others += fmt::format("{}{} {}", others.empty() ? "" : ", ", model::name(layer), microseconds(row.mean_ns));
	if (!others.empty())
		page.paragraph("", "without samples, mostly because no thread of the message runs: " + others, 2);
	page.line();
}

void add_function_notes(Page &page)
{
	page.paragraph("",
				   "µs are means of a message, of probed blocks without samples; samples divide each layer among the "
				   "innermost functions. ± is for 95 %, by the number of samples.",
				   2);
	page.paragraph("",
				   "library!function: user code; library+offset: a function without a name there; [irqs off]: "
				   "the timer waited until interrupts were on again, in another layer.",
				   2);
}

} // namespace icepath::report
