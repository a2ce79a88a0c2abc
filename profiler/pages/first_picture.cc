// SPDX-License-Identifier: Apache-2.0
#include "profiler/pages/first_picture.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <numeric>

#include "profiler/analysis/cell_modes.h"
#include "profiler/analysis/layer_style.h"
#include "profiler/model/cell_title.h"
#include "profiler/pages/markup.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/mode_words.h"

namespace icepath::pages {
namespace {

constexpr double kPictureWidth = 1000, kLabel = 190, kPanel = 300, kValue = 100, kApart = 10; // pixels
constexpr double kHeading = 30, kCellRow = 26, kBarHeight = 14;
// A bar that is longer than this many of the middle cell's is drawn with a gap, as long as the axis, so that one slow
// cell doesn't hide all others.
constexpr double kCutFrom = 4;

// Typical messages stand on the left and slow ones on the right, each on an axis of their own: slow messages may take a
// hundred times as long.
struct Panel {
	const char *what, *heading, *value; // value: what the numbers beside the bars are
	std::optional<analysis::LatencyRange> analysis::TypicalAndTail::*range;
	size_t percentile; // of stats::kReported, which a mark shows
	double left;
};
constexpr std::array<Panel, 2> kPanels = {{
	{"typical message (p40 to p60)", "a typical message, µs", "p50, µs", &analysis::TypicalAndTail::typical, 0, kLabel},
	{"slow message (slowest 1 %)", "a slow message (slowest 1 %), µs", "mean, µs", &analysis::TypicalAndTail::tail, 2,
	 kLabel + kPanel + kValue + kApart},
}};

// What a bar is of, and the mark beside it.
struct Bar {
	std::string of; // "tcp 64 B pingpong block, typical message (p40 to p60)"
	const analysis::LatencyRange *range = nullptr; // with probes; nullptr: there are no such messages
	bool tells = false; // enough of their paths are known to stand for all
	const stats::Distribution *latency = nullptr; // without probes
	bool of_library = false;
	bool is_doubtful = false; // others of the cell's messages are too little known
	double ns() const { return tells ? range->layers.mean_ns() : 0; }
};

// Of several modes none is typical: each has a bar instead.
bool has_bar_of_cell(const analysis::CellResult &cell, const Panel &panel)
{
	return panel.range != &analysis::TypicalAndTail::typical || cell.modes.all.empty();
}

// The bar of the cell's typical messages or of its slow ones.
Bar bar_of_cell(const analysis::CellResult &cell, const Panel &panel)
{
	const auto &range = cell.ranges.*panel.range;
	const bool is_typical = panel.range == &analysis::TypicalAndTail::typical;
	return {fmt::format("{}, {}", model::title(cell.cell), panel.what),
			range ? &*range : nullptr,
			is_typical ? cell.ranges.tells_typical() : range && range->tells_where(),
			&cell.times.latency,
			cell.is_of_library(),
			is_typical && !cell.paths.tells_where()};
}

std::string share_of_messages(const analysis::CellMode &mode)
{
	return text::brief_share_text(mode.share) + " of messages";
}

Bar bar_of_mode(const analysis::CellResult &cell, const analysis::CellMode &mode)
{
	return {fmt::format("{}, mode with {}", model::title(cell.cell), share_of_messages(mode)),
			mode.seen_with_probes() ? &mode.range : nullptr,
			mode.tells_where(),
			&mode.latency,
			cell.is_of_library(),
			!cell.paths.tells_where()};
}

std::vector<Bar> bars_in_panel(const analysis::CellResult &cell, const Panel &panel)
{
	std::vector<Bar> bars;
	if (has_bar_of_cell(cell, panel))
		return {bar_of_cell(cell, panel)};
	for (const analysis::CellMode &mode : cell.modes.all)
		bars.push_back(bar_of_mode(cell, mode));
	return bars;
}

// What the axis shows at most, in nanoseconds.
double axis_end(const Panel &panel, const analysis::RunResult &result)
{
	std::vector<double> lengths;
	double most = 0;
	for (const analysis::CellResult &cell : result.cells)
		for (const Bar &bar : bars_in_panel(cell, panel)) {
			if (const double length = bar.ns(); length > 0)
				lengths.push_back(length);
			if (const auto &percentile = bar.latency->percentiles[panel.percentile])
				most = std::max(most, static_cast<double>(*percentile));
		}
	if (lengths.empty())
		return most;
	std::ranges::sort(lengths);
	return std::min(std::max(most, lengths.back()), kCutFrom * lengths[lengths.size() / 2]);
}

// "waking: 12.3 µs, of which wakeup 8.20, runqueue/idle_exit 4.10"
std::string kind_tooltip(const Bar &bar, analysis::LayerKind kind, double ns)
{
	std::string text = fmt::format("{} · {}: {}", bar.of, analysis::style_of(kind).word, stats::duration(ns));
	std::map<std::string, double> layers;
	for (const analysis::LayerRow &row : bar.range->layers.rows())
		if (analysis::kind_of(row.layer, row.part, bar.of_library) == kind)
			layers[fmt::format("{}{}{}", model::name(row.layer), row.part == model::Part::None ? "" : "/",
							   row.part == model::Part::None ? "" : model::name(row.part))] += row.mean_ns;
	for (const auto &[layer, layer_ns] : layers)
		text += fmt::format("\n{} {}", layer, stats::duration(layer_ns));
	return text;
}

class Picture {
public:
	explicit Picture(const analysis::RunResult &result)
		: result_(result), most_ns_{axis_end(kPanels[0], result), axis_end(kPanels[1], result)}
	{}

	std::string svg(const analysis::GroupedCells &cells)
	{
		double y = 46;
		std::string rows;
		for (const analysis::CellGroup &group : cells.groups) {
			rows +=
				fmt::format("<text class=\"group\" x=\"0\" y=\"{:.0f}\">{}</text>\n", y + 19, escaped(group.heading));
			y += kHeading;
			for (const size_t cell : group.cells) {
				rows += row(cell, cells.labels[cell], y);
				y += kCellRow;
				for (const analysis::CellMode &mode : result_.cells[cell].modes.all) {
					rows += mode_row(cell, mode, y);
					y += kCellRow;
				}
			}
		}
		return fmt::format("<svg class=\"picture\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" "
						   "aria-label=\"Latency of each cell by kinds of time\">\n{2}{3}{4}</svg>\n",
						   kPictureWidth, y + 6, axis(0, y), axis(1, y), rows);
	}

private:
	double x_of(size_t panel, double ns) const
	{
		return kPanels[panel].left + (most_ns_[panel] > 0 ? std::min(ns / most_ns_[panel], 1.0) * kPanel : 0);
	}
	static double value_end(size_t panel) { return kPanels[panel].left + kPanel + kValue - 4; }

	std::string axis(size_t panel, double bottom) const
	{
		std::string text =
			fmt::format("<g class=\"axis\"><text x=\"{:.0f}\" y=\"14\">{}</text><text text-anchor=\"end\" x=\"{:.0f}\" "
						"y=\"32\">{}</text>",
						kPanels[panel].left, kPanels[panel].heading, value_end(panel), kPanels[panel].value);
		for (const double us : axis_values(most_ns_[panel] / kNsPerAxisUnit, 5))
			text += fmt::format("<path d=\"M{0:.1f} 38V{1:.0f}\"/><text text-anchor=\"middle\" x=\"{0:.1f}\" "
								"y=\"32\">{2:g}</text>",
								x_of(panel, us * kNsPerAxisUnit), bottom, us);
		return text + "</g>\n";
	}

	static std::string begin_of_row(const std::string &classes, size_t index, const std::string &title,
									const std::string &name, double x, double y)
	{
		return fmt::format("<g class=\"{}\" data-cell=\"{}\"><title>{}</title><rect class=\"back\" x=\"0\" "
						   "y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\"/><text x=\"{:.0f}\" y=\"{:.0f}\">{}</text>",
						   classes, index, escaped(title), y, kPictureWidth, kCellRow - 2, x, y + 17,
						   escaped(fitted_with_end(name, kLabel - x)));
	}

	static std::string value(size_t panel, const std::string &text, double y)
	{
		return fmt::format("<text class=\"value\" text-anchor=\"end\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>",
						   value_end(panel), y + 17, escaped(text));
	}

	static std::string said(size_t panel, const std::string &text, double y)
	{
		return fmt::format("<text class=\"axis\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>", kPanels[panel].left + 6, y + 17,
						   escaped(text));
	}

	std::string row(size_t index, const std::string &name, double y) const
	{
		const analysis::CellResult &cell = result_.cells[index];
		const Bar slow = bar_of_cell(cell, kPanels[1]);
		const std::string slow_text =
			slow.tells ? (cell.modes.changed_by_probes() ? "†" : "") + stats::microseconds(slow.ns()) : "";
		std::string text = begin_of_row("row", index, model::title(cell.cell), name, 8, y);
		if (!cell.modes.all.empty())
			text += said(0, fmt::format("{} modes:", cell.modes.all.size()), y);
		for (size_t panel = 0; panel < kPanels.size(); ++panel)
			if (has_bar_of_cell(cell, kPanels[panel]))
				text += drawn(bar_of_cell(cell, kPanels[panel]), panel, y);
		return text + value(0, text::whole_p50_text(cell), y) + value(1, slow_text, y) + "</g>\n";
	}

	std::string mode_row(size_t index, const analysis::CellMode &mode, double y) const
	{
		const analysis::CellResult &cell = result_.cells[index];
		const std::string name = share_of_messages(mode);
		std::string text =
			begin_of_row("row mode", index, fmt::format("{}, {}", model::title(cell.cell), name), name, 24, y);
		text += drawn(bar_of_mode(cell, mode), 0, y);
		if (!mode.seen_with_probes())
			text += said(0, "not seen with probes", y);
		return text + value(0, stats::percentile_text(mode.latency, 0), y) + "</g>\n";
	}

	std::string drawn(const Bar &bar, size_t panel, double y) const
	{
		return (bar.range ? pieces(bar, panel, y) : "") + mark(bar, panel, y + 2);
	}

	std::string pieces(const Bar &bar, size_t number, double y) const
	{
		if (!bar.tells)
			return said(number,
						fmt::format("the path is known for {} of these messages only",
									stats::percent(bar.range->share_known())),
						y);
		const Panel &panel = kPanels[number];
		const double top = y + 5;
		const auto kinds = analysis::by_kind(bar.range->layers.rows(), bar.of_library);
		const double whole = std::accumulate(kinds.begin(), kinds.end(), 0.0), most = most_ns_[number];
		const double shrunk = whole > most * (1 + 1e-9) ? most / whole : 1;
		std::string text;
		double from = 0;
		for (size_t i = 0; i < analysis::kLayerKinds; ++i) {
			const double left = x_of(number, from * shrunk), right = x_of(number, (from + kinds[i]) * shrunk);
			if (kinds[i] > 0)
				text +=
					fmt::format("<rect class=\"kind-{}\" data-panel=\"{}\" x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" "
								"height=\"{:.0f}\"><title>{}</title></rect>",
								i, number, left, top, right - left, kBarHeight,
								escaped(kind_tooltip(bar, static_cast<analysis::LayerKind>(i), kinds[i])));
			from += kinds[i];
		}
		if (bar.is_doubtful)
			text += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\">?</text>", x_of(number, from * shrunk) + 4, y + 17);
		if (shrunk < 1)
			text +=
				fmt::format("<path class=\"cut\" d=\"M{:.0f} {:.0f}l-6 {:.0f}h5l6 -{:.0f}z\"><title>longer than the "
							"axis: {}</title></path>",
							panel.left + kPanel - 14, top - 1, kBarHeight + 2, kBarHeight + 2, stats::duration(whole));
		return text;
	}

	// A percentile without probes, with its interval; an arrow if it is beyond the axis.
	std::string mark(const Bar &bar, size_t panel, double y) const
	{
		const size_t which = kPanels[panel].percentile;
		const auto &value = bar.latency->percentiles[which];
		const auto &interval = bar.latency->intervals[which];
		if (!value)
			return "";
		const auto ns = static_cast<double>(*value);
		std::string text = ns > most_ns_[panel]
							   ? fmt::format("<path class=\"mark\" d=\"M{:.0f} {:.0f}l6 5l-6 5\"/>",
											 kPanels[panel].left + kPanel + 2, y + 5)
							   : fmt::format("<path class=\"mark\" d=\"M{:.1f} {:.0f}v20\"/>", x_of(panel, ns), y);
		if (interval && ns <= most_ns_[panel])
			text += fmt::format("<path class=\"mark thin\" d=\"M{:.1f} {:.0f}H{:.1f}\"/>", x_of(panel, interval->low),
								y, x_of(panel, interval->high));
		return fmt::format("<g><title>{}: {} µs without probes</title>{}</g>", which == 0 ? "p50" : "p99",
						   escaped(stats::percentile_text(*bar.latency, which)), text);
	}

	const analysis::RunResult &result_;
	const std::array<double, kPanels.size()> most_ns_;
};

} // namespace

std::string first_picture(const analysis::RunResult &result, const analysis::GroupedCells &cells)
{
	return Picture(result).svg(cells);
}

bool has_doubtful_bar(const analysis::RunResult &result)
{
	return std::ranges::any_of(result.cells, [](const analysis::CellResult &cell) {
		return std::ranges::any_of(bars_in_panel(cell, kPanels[0]),
								   [](const Bar &bar) { return bar.range && bar.tells && bar.is_doubtful; });
	});
}

} // namespace icepath::pages
