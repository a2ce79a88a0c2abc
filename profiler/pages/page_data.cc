// SPDX-License-Identifier: Apache-2.0
#include "profiler/pages/page_data.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "profiler/analysis/flamegraph.h"
#include "profiler/analysis/layer_style.h"
#include "profiler/explain/difference.h"
#include "profiler/explain/one_message.h"
#include "profiler/model/cell_title.h"
#include "profiler/pages/flame_json.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/blame_words.h"

namespace icepath::pages {
namespace {

using PageJson = nlohmann::ordered_json;

PageJson percentiles_json(const stats::Distribution &distribution)
{
	PageJson values = PageJson::array();
	for (size_t i = 0; i < stats::kReported.size(); ++i)
		if (const auto &value = distribution.percentiles[i]; value && distribution.intervals[i])
			values.push_back({*value, stats::rounded(distribution.intervals[i]->low),
							  stats::rounded(distribution.intervals[i]->high)});
		else
			values.push_back(nullptr);
	return values;
}

PageJson groups_json(const analysis::RunResult &result, const analysis::GroupedCells &cells)
{
	PageJson all = PageJson::array();
	for (const analysis::CellGroup &group : cells.groups) {
		PageJson curves = PageJson::array();
		for (const size_t cell : group.cells)
			curves.push_back({{"cell", cell},
							  {"name", cells.labels[cell]},
							  {"title", model::title(result.cells[cell].cell)},
							  {"values", percentiles_json(result.cells[cell].times.latency)}});
		all.push_back(curves);
	}
	return all;
}

// For the module of browser/heat_map.js: `edges`, of the bins that any column has; `cells`, for each the columns
// [begin, end, blocks, first bin, [messages of each bin…]] with times in seconds since the first block. A column ends
// where the next one begins.
PageJson over_time_json(const analysis::RunResult &result)
{
	constexpr size_t kAllColumns = 2400, kMostColumns = 96, kLeastColumns = 24; // so that the page stays small
	const size_t most = std::clamp(kAllColumns / std::max<size_t>(result.cells.size(), 1), kLeastColumns, kMostColumns);
	std::vector<std::vector<analysis::LatencyColumn>> cells;
	uint64_t first_ns = UINT64_MAX;
	size_t first_bin = SIZE_MAX, end_bin = 0;
	for (const analysis::CellResult &cell : result.cells)
		for (const analysis::LatencyColumn &column : cells.emplace_back(cell.over_time.columns(most))) {
			first_ns = std::min(first_ns, column.begin_ns);
			first_bin = std::min(first_bin, column.first_bin);
			end_bin = std::max(end_bin, column.first_bin + column.counts.size());
		}
	const auto seconds = [&](uint64_t at_ns) {
		return std::round(static_cast<double>(at_ns - first_ns) / 1e6) / 1e3; // to a millisecond
	};
	PageJson edges = PageJson::array(), all = PageJson::array();
	for (size_t bin = first_bin; bin <= end_bin; ++bin)
		edges.push_back(analysis::lower_edge_ns(bin));
	for (const std::vector<analysis::LatencyColumn> &columns : cells) {
		PageJson its = PageJson::array();
		for (size_t i = 0; i < columns.size(); ++i)
			its.push_back({seconds(columns[i].begin_ns),
						   seconds(i + 1 < columns.size() ? columns[i + 1].begin_ns
														  : std::max(columns[i].begin_ns, columns[i].finish_ns)),
						   columns[i].blocks, columns[i].first_bin - first_bin, columns[i].counts});
		all.push_back(its);
	}
	return {{"edges", edges}, {"cells", all}};
}

// Texts that are repeated are written once.
class TextTable {
public:
	size_t operator()(const std::string &text)
	{
		const auto [at, is_new] = places_.emplace(text, places_.size());
		if (is_new)
			texts_.push_back(text);
		return at->second;
	}
	const PageJson &texts() const { return texts_; }

private:
	std::map<std::string, size_t> places_;
	PageJson texts_ = PageJson::array();
};

// [kind, from, ns, thread, layer, how well it is known, bound or 0, culprit], of which four are places in the table.
PageJson step_json(const explain::MessageStep &step, bool of_library, TextTable &texts)
{
	return {static_cast<size_t>(analysis::kind_of(step.layer, step.part, of_library)),
			step.offset_ns,
			step.ns,
			texts(step.thread),
			texts(explain::layer_text(step.layer, step.part)),
			texts(std::string(step.known)),
			step.bound_ns,
			texts(text::words_of(step.blame))};
}

// The longest steps: shorter ones of a message with so many can't be seen.
std::vector<explain::MessageStep> longest_steps(std::vector<explain::MessageStep> steps)
{
	constexpr size_t kMostSteps = 40;
	if (steps.size() <= kMostSteps)
		return steps;
	std::vector<uint64_t> times;
	for (const explain::MessageStep &step : steps)
		times.push_back(step.ns);
	std::vector<explain::MessageStep> longest;
	for (const size_t step : explain::longest_of(times, kMostSteps))
		longest.push_back(std::move(steps[step]));
	return longest;
}

// For the module of browser/timelines.js: `texts`, and for each cell its slowest messages.
PageJson slowest_json(const analysis::RunResult &result)
{
	TextTable texts;
	PageJson all = PageJson::array();
	for (const analysis::CellResult &cell : result.cells) {
		PageJson messages = PageJson::array();
		for (const analysis::WorstMessage &message : cell.followed.slowest) {
			const std::vector<explain::MessageStep> steps = explain::steps_of(message, cell);
			const std::vector<explain::MessageStep> shown = longest_steps(steps);
			PageJson its = PageJson::array();
			for (const explain::MessageStep &step : shown)
				its.push_back(step_json(step, cell.is_of_library(), texts));
			messages.push_back({{"name", explain::name_of(message)},
								{"ns", message.latency_ns()},
								{"left_out", steps.size() - shown.size()},
								{"steps", its}});
		}
		all.push_back(messages);
	}
	return {{"texts", texts.texts()}, {"cells", all}};
}

} // namespace

nlohmann::ordered_json page_data(const analysis::RunResult &result, const analysis::GroupedCells &cells)
{
	PageJson titles = PageJson::array(), kinds = PageJson::array();
	for (const analysis::CellResult &one : result.cells)
		titles.push_back(model::title(one.cell));
	for (const analysis::KindStyle &style : analysis::kKindStyles)
		kinds.push_back(style.word);
	return {{"cells", titles},
			{"kinds", kinds},
			{"percentiles", {"p50", "p90", "p99", "p99.9", "p99.99", "p99.999"}},
			{"groups", groups_json(result, cells)},
			{"over_time", over_time_json(result)},
			{"slowest", slowest_json(result)},
			{"all", flame_json(analysis::flame_graph(result, analysis::FlameMessages::All, ""))},
			{"typical", flame_json(analysis::flame_graph(result, analysis::FlameMessages::Typical, ""))},
			{"tail", flame_json(analysis::flame_graph(result, analysis::FlameMessages::Tail, ""))}};
}

} // namespace icepath::pages
