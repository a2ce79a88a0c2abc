// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/function_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "profiler/analysis/functions.h"
#include "profiler/explain/one_message.h"
#include "profiler/model/cell_title.h"
#include "profiler/model/printable.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/columns.h"
#include "profiler/text/function_name.h"
#include "profiler/text/mode_words.h"
#include "profiler/text/table.h"

namespace icepath::text {
namespace {

constexpr size_t kMostOfMessage = 12; // of the whole message
constexpr size_t kMostCalled = 48; // functions of a layer
constexpr double kLeastShare = 0.02; // of a layer
constexpr double kPassedOn = 0.01; // of it: less stays in a function that shares its row with the one that it calls
constexpr size_t kBeforeName = 33, kShortestName = 20; // columns

bool is_shown(uint64_t samples, double ns, double least_ns) { return samples != 1 && ns >= least_ns; }

std::string half_beside(uint64_t samples, double half_ns, double ns)
{
	return samples > 0 ? "±" + stats::microseconds_beside(half_ns, ns) : "";
}

size_t room_for_names(const Page &page) { return std::max(page.width(), kBeforeName + kShortestName) - kBeforeName; }

std::string name_in(const std::string &function, size_t room)
{
	return model::printable(shortened_function(function, room), room);
}

// `all`, `names`: heads of their columns.
Table function_table(const std::string &all, const std::string &names)
{
	Table table({{Side::Right, 7}, {Side::Right, 7, 1}, {Side::Left, 6, 1}, {Side::Right, 6, 1}, {}});
	table.add({"itself", all, "±", "", names});
	return table;
}

void add_whole_message(Page &page, const analysis::CellResult &cell)
{
	const double all_ns = cell.paths.layers.mean_ns();
	page.line(page.spelled(fmt::format("  message          {} µs", stats::microseconds(all_ns))));
	Table table = function_table("", "all layers");
	double others_ns = 0;
	size_t shown = 0, others = 0;
	for (const analysis::FunctionRow &function : analysis::functions_of_message(cell.paths.layers, cell.functions))
		if (shown < kMostOfMessage && is_shown(function.samples, function.mean_ns, 0)) {
			++shown;
			table.add({stats::microseconds(function.mean_ns), "",
					   half_beside(function.samples, function.half_ns, function.mean_ns),
					   stats::percent(function.mean_ns / all_ns), name_in(function.name, room_for_names(page))});
		} else {
			++others;
			others_ns += function.mean_ns;
		}
	if (others > 0)
		table.add({stats::microseconds(others_ns), "", "", stats::percent(others_ns / all_ns),
				   fmt::format("{} others", others)});
	table.add_to(page);
}

// A layer's functions as a tree, of those with most time.
class CalledLines {
public:
	CalledLines(Page &page, double layer_ns, const std::vector<analysis::CalledFunction> &outermost)
		: page_(page), layer_ns_(layer_ns)
	{
		std::vector<double> all_ns;
		collect(outermost, all_ns);
		std::ranges::sort(all_ns, std::ranges::greater());
		least_ns_ = kLeastShare * layer_ns;
		if (all_ns.size() > kMostCalled)
			least_ns_ = std::max(least_ns_, all_ns[kMostCalled - 1]);
		add(outermost, 0);
		const double others_ns = layer_ns - shown_ns_;
		if (others_ns > 0.0005 * layer_ns)
			table_.add({stats::microseconds(others_ns), "", "", stats::percent(others_ns / layer_ns), "in others"});
		table_.add_to(page_);
	}

private:
	static void collect(const std::vector<analysis::CalledFunction> &functions, std::vector<double> &all_ns)
	{
		for (const analysis::CalledFunction &function : functions) {
			if (function.samples != 1)
				all_ns.push_back(function.mean_ns);
			collect(function.calls, all_ns);
		}
	}

	bool shows(const analysis::CalledFunction &function) const
	{
		return is_shown(function.samples, function.mean_ns, least_ns_);
	}

	// The function that has nearly all of this one's time, if only that is shown below it.
	const analysis::CalledFunction *passes_on(const analysis::CalledFunction &function) const
	{
		const analysis::CalledFunction *only = nullptr;
		for (const analysis::CalledFunction &call : function.calls)
			if (shows(call)) {
				if (only)
					return nullptr;
				only = &call;
			}
		return only && function.mean_ns - only->mean_ns < kPassedOn * layer_ns_ ? only : nullptr;
	}

	void add(const std::vector<analysis::CalledFunction> &functions, size_t depth)
	{
		for (const analysis::CalledFunction &outer : functions) {
			if (!shows(outer))
				continue;
			std::vector<std::string> names = {outer.name};
			const analysis::CalledFunction *function = &outer;
			while (const analysis::CalledFunction *next = passes_on(*function)) {
				function = next;
				names.push_back(next->name);
			}
			shown_ns_ += function->own_ns;
			table_.add({stats::microseconds(function->own_ns), stats::microseconds(function->mean_ns),
						half_beside(function->samples, function->half_ns, function->mean_ns),
						stats::percent(function->mean_ns / layer_ns_),
						std::string(depth, ' ') + name_of(names, depth)});
			add(function->calls, depth + 1);
		}
	}

	// "caller > function"; from the outermost one on, without those in the middle where they don't fit.
	std::string name_of(const std::vector<std::string> &names, size_t depth) const
	{
		const size_t room = std::max(room_for_names(page_), depth + kShortestName) - depth;
		constexpr size_t kLeftOut = 4; // columns of "… > "
		if (names.size() == 1)
			return name_in(names.back(), room);
		std::string text = shortened_function(names.back(), room - kLeftOut);
		bool is_whole = true;
		for (size_t i = names.size() - 1; is_whole && i-- > 0;) {
			const size_t taken = columns(text) + 3 + (i > 0 ? kLeftOut : 0);
			const std::string caller = shortened_function(names[i], room - std::min(room, taken));
			const bool has_library = caller.find('!') < caller.size() || names[i].find('!') == std::string::npos;
			if (!(is_whole = columns(caller) + taken <= room && has_library))
				break;
			text = caller + " > " + text;
		}
		return model::printable(is_whole ? text : "… > " + text, room);
	}

	Page &page_;
	Table table_ = function_table("all", "functions, each below its caller");
	const double layer_ns_;
	double least_ns_ = 0, shown_ns_ = 0;
};

void add_layer(Page &page, const analysis::CellResult &cell, const analysis::SampledLayer &layer)
{
	page.line(page.spelled(fmt::format("  {} {} µs, {} samples", pad_right(std::string(model::name(layer.layer)), 16),
									   stats::microseconds(layer.mean_ns), stats::count(layer.samples))));
	CalledLines(page, layer.mean_ns, analysis::called_functions(cell.paths.layers, cell.functions, layer.layer));
}

} // namespace

std::string cost_of_samples(const analysis::CellResult &cell)
{
	const auto &with = cell.times.latency_sampled.percentiles[0], &without = cell.times.latency_probed.percentiles[0];
	if (!with || !without)
		return "";
	return fmt::format("messages take {} (p50) in blocks with samples, {} in others with probes",
					   stats::duration(static_cast<double>(*with)), stats::duration(static_cast<double>(*without)));
}

void add_functions(Page &page, const analysis::CellResult &cell)
{
	page.heading(model::title(cell.cell));
	std::string cost = cost_of_samples(cell);
	if (!cost.empty())
		cost.insert(0, "; ");
	page.paragraph("",
				   fmt::format("{} samples on messages' paths in {} blocks{}", stats::count(cell.functions.samples()),
							   cell.blocks.sampled, cost),
				   2);
	if (const std::string probes = probes_text(cell); !probes.empty())
		page.paragraph("", probes + ". Samples are of messages with probes", 2);
	add_whole_message(page, cell);
	std::set<model::Layer> sampled;
	for (const analysis::SampledLayer &layer : analysis::sampled_layers(cell.paths.layers, cell.functions)) {
		add_layer(page, cell, layer);
		sampled.insert(layer.layer);
	}
	std::string others;
	for (const auto &[layer, row] : cell.paths.layers.by_layer())
		if (!sampled.contains(layer))
			others += fmt::format("{}{} {}", others.empty() ? "" : ", ", model::name(layer),
								  stats::microseconds(row.mean_ns));
	if (!others.empty())
		page.paragraph("", "without samples, mostly because no thread of the message runs: " + others, 2);
	page.line();
}

void add_function_notes(Page &page)
{
	page.paragraph(
		"",
		"Times are µs, means of a message, of probed blocks without samples; samples divide each layer. itself: "
		"excluding callees; all: including callees, and ± (95 %, over blocks) is of this. Functions that only pass on "
		"share a row with the one that they call. In others: rows of a single sample, and small ones. The flame graph "
		"has the kernel's callers and full C++ names.",
		2);
	page.paragraph("",
				   "library!function: user code; library+offset: a function without a name there; [probes]: BPF "
				   "programs and what calls them, mostly icepath's own; [irqs off]: the timer waited until interrupts "
				   "were on again, in another layer.",
				   2);
}

} // namespace icepath::text
