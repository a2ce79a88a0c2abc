// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/tail.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "profiler/model/cell_title.h"
#include "profiler/report/layer_style.h"
#include "profiler/report/quantity.h"

namespace icepath::report {
namespace {

bool has_name(const CulpritRow &row)
{
	return row.kind == path::Culprit::Kind::Task || row.kind == path::Culprit::Kind::Interrupt ||
		   row.kind == path::Culprit::Kind::Throttled;
}

struct OfName {
	uint64_t ns = 0, messages = 0;
};

// Parts of a layer together. A message counts for the part that most messages have.
std::map<std::pair<std::string, model::Layer>, OfName> by_name(const Culprits &culprits)
{
	std::map<std::pair<std::string, model::Layer>, OfName> names;
	for (const CulpritRow &row : culprits.top(SIZE_MAX)) {
		if (!has_name(row))
			continue;
		OfName &of = names[{row.name, row.layer}];
		of.ns += row.total_ns;
		of.messages = std::max(of.messages, row.messages);
	}
	return names;
}

std::vector<TailCause> causes_of(const CellResult &cell)
{
	std::vector<TailCause> causes;
	const auto typical = by_name(cell.typical_culprits);
	const auto tail_messages = static_cast<double>(cell.tail->layers.deliveries());
	const auto typical_messages = static_cast<double>(cell.typical->layers.deliveries());
	for (const auto &[key, of] : by_name(cell.tail_culprits)) {
		TailCause &cause = causes.emplace_back();
		std::tie(cause.name, cause.layer) = key;
		cause.messages = of.messages;
		cause.share = static_cast<double>(of.messages) / tail_messages;
		cause.when_there_ns = static_cast<double>(of.ns) / static_cast<double>(std::max<uint64_t>(of.messages, 1));
		cause.growth_ns = static_cast<double>(of.ns) / tail_messages;
		if (const auto before = typical.find(key); before != typical.end() && typical_messages > 0) {
			cause.typical_share = static_cast<double>(before->second.messages) / typical_messages;
			cause.growth_ns -= static_cast<double>(before->second.ns) / typical_messages;
		}
	}
	std::ranges::stable_sort(causes, std::ranges::greater(), &TailCause::growth_ns);
	return causes;
}

std::string row(const std::string &name, size_t width, const std::array<std::string, 4> &cells, const std::string &rest)
{
	std::string line = "  " + pad_right(name, width);
	for (const std::string &cell : cells)
		line += pad_left(cell, 11);
	return line + (rest.empty() ? "" : "  " + rest);
}

void add_growth(Page &page, const TailExplanation &tail)
{
	constexpr double kWorthARow = 0.01; // of the growth
	constexpr size_t kBar = 20;
	size_t width = 15;
	for (const LayerGrowth &layer : tail.layers)
		width = std::max(width, model::name(layer.layer).size());
	page.line(page.spelled(row("mean µs", width, {"typical", "tail", "growth", "of growth"}, "")));
	LayerGrowth rest;
	const auto add = [&](const std::string &name, const LayerGrowth &layer) {
		const double share = layer.growth_ns() / tail.growth_ns();
		const auto columns_of_bar = static_cast<size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kBar));
		page.line(page.spelled(row(name, width,
								   {microseconds(layer.typical_ns), microseconds(layer.tail_ns),
									(layer.growth_ns() < 0 ? "-" : "+") + microseconds(std::abs(layer.growth_ns())),
									fmt::format("{:.0f} %", 100 * share)},
								   columns_of_bar > 0 ? layer_symbol(layer.layer, columns_of_bar, page.look()) : "")));
	};
	for (const LayerGrowth &layer : tail.layers)
		if (std::abs(layer.growth_ns()) >= kWorthARow * tail.growth_ns())
			add(std::string(model::name(layer.layer)), layer);
		else {
			rest.typical_ns += layer.typical_ns;
			rest.tail_ns += layer.tail_ns;
		}
	if (rest.tail_ns > 0 || rest.typical_ns > 0)
		add("everything else", rest);
	page.line(page.spelled(
		row("sum", width,
			{microseconds(tail.typical_ns), microseconds(tail.tail_ns), "+" + microseconds(tail.growth_ns()), "100 %"},
			"= recv - send")));
}

void add_causes(Page &page, const TailExplanation &tail)
{
	constexpr size_t kShown = 6;
	std::vector<TailCause> shown = tail.causes;
	std::erase_if(shown, [](const TailCause &cause) { return cause.growth_ns <= 0; });
	if (shown.size() > kShown)
		shown.resize(kShown);
	if (shown.empty())
		return;
	size_t width = 15;
	for (const TailCause &cause : shown)
		width = std::max(width, columns(cause.name));
	page.line(page.spelled(row("what took it", width, {"in tail", "in typical", "lift", "µs there"}, "")));
	for (const TailCause &cause : shown)
		page.line(page.spelled(
			row(cause.name, width,
				{percent(cause.share), percent(cause.typical_share),
				 cause.lift() ? fmt::format("{:.3g}×", *cause.lift()) : "only here", microseconds(cause.when_there_ns)},
				std::string(model::name(cause.layer)))));
}

} // namespace

TailExplanation explain_tail(const CellResult &cell)
{
	TailExplanation result;
	if (!cell.tail || !cell.typical)
		return result;
	result.messages = cell.tail->layers.deliveries();
	result.from_ns = cell.tail->from_ns;
	result.blocks = cell.tail->layers.blocks_with_deliveries();
	result.of_blocks = cell.blocks_probed;
	if (result.messages < kLeastTail || result.blocks < kLeastTailBlocks || !cell.tail->tells_where() ||
		!cell.tells_typical())
		return result;
	result.typical_ns = cell.typical->layers.mean_ns();
	result.tail_ns = cell.tail->layers.mean_ns();
	const auto typical = cell.typical->layers.by_layer(), tail = cell.tail->layers.by_layer();
	const stats::RedrawnMeans blocks = cell.tail->layers.means();
	for (size_t i = 0; i < model::kLayerCount; ++i) {
		LayerGrowth growth;
		growth.layer = static_cast<model::Layer>(i);
		if (const auto found = typical.find(growth.layer); found != typical.end())
			growth.typical_ns = found->second.mean_ns;
		if (const auto found = tail.find(growth.layer); found != tail.end()) {
			growth.tail_ns = found->second.mean_ns;
			growth.tail_interval = blocks.interval(found->second.by_block);
		}
		if (growth.typical_ns > 0 || growth.tail_ns > 0)
			result.layers.push_back(growth);
	}
	std::ranges::stable_sort(result.layers, std::ranges::greater(), &LayerGrowth::growth_ns);
	result.causes = causes_of(cell);
	double named_ns = 0;
	for (const TailCause &cause : result.causes)
		named_ns += cause.growth_ns;
	result.named = result.growth_ns() > 0 ? std::clamp(named_ns / result.growth_ns(), 0.0, 1.0) : 0;
	result.verdict = result.named >= kExplained         ? TailVerdict::Explained
					 : result.named >= kPartlyExplained ? TailVerdict::Partly
														: TailVerdict::Unexplained;
	return result;
}

void add_tails(Page &page, const RunResult &result, const std::string &only)
{
	for (const CellResult &cell : result.cells) {
		const std::string title = model::title(cell.cell);
		if (cell.probed == 0 || title.find(only) == std::string::npos)
			continue;
		const TailExplanation tail = explain_tail(cell);
		if (tail.verdict == TailVerdict::TooFew) {
			page.heading(title);
			page.paragraph("verdict",
						   fmt::format("too few: {} messages of the tail have a known path, in {} blocks; {} in {} are "
									   "needed: measure longer (icepath run -d)",
									   tail.messages, tail.blocks, kLeastTail, kLeastTailBlocks));
			page.line();
			continue;
		}
		page.heading(fmt::format("{}: the tail, from p99 on, is {} of {} messages, all of {} or more", title,
								 count(tail.messages), count(cell.complete()),
								 duration(static_cast<double>(tail.from_ns))));
		page.paragraph("spread", fmt::format("in {} of {} blocks", tail.blocks, tail.of_blocks));
		if (cell.latency.percentiles[2] && cell.latency_probed.percentiles[2])
			page.paragraph("probes",
						   fmt::format("p99 is {} µs with probes, {} without", percentile_text(cell.latency_probed, 2),
									   percentile_text(cell.latency, 2)));
		add_growth(page, tail);
		add_causes(page, tail);
		page.paragraph("verdict", fmt::format("{}: {} of the growth has a named cause",
											  kTailVerdicts[static_cast<size_t>(tail.verdict)], percent(tail.named)));
		page.line();
	}
}

} // namespace icepath::report
