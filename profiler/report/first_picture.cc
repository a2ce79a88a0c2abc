// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/first_picture.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "profiler/model/cell_title.h"
#include "profiler/report/layer_style.h"
#include "profiler/report/markup.h"
#include "profiler/report/quantity.h"

namespace icepath::report {
namespace {

constexpr double kPictureWidth = 1000, kLabel = 190, kValue = 110; // pixels; the bars have what is left
constexpr double kBars = kPictureWidth - kLabel - kValue;
constexpr double kHeading = 30, kCellRow = 34, kTypicalBar = 14, kTailBar = 7;
// A bar that is longer than this many of the middle cell's is cut, so that one slow cell doesn't hide all others.
constexpr double kCutFrom = 4;

// Layers of some of a cell's messages, if enough of their paths are known to stand for all.
struct Bar {
	const char *what;
	const std::optional<LatencyRange> *range;
	double height;
	bool tells;
};

std::array<Bar, 2> bars_of(const CellResult &cell)
{
	return {{{"typical message (p40 to p60)", &cell.typical, kTypicalBar, cell.tells_typical()},
			 {"slow message (slowest 1 %)", &cell.tail, kTailBar, cell.tail && cell.tail->tells_where()}}};
}

double length_of(const Bar &bar) { return *bar.range && bar.tells ? (*bar.range)->layers.mean_ns() : 0; }

// What the axis shows at most, in nanoseconds.
double axis_end(const RunResult &result)
{
	std::vector<double> typical;
	double most = 0;
	for (const CellResult &cell : result.cells) {
		const auto bars = bars_of(cell);
		if (const double length = length_of(bars[0]); length > 0)
			typical.push_back(length);
		for (const Bar &bar : bars)
			most = std::max(most, length_of(bar));
		for (const size_t which : {0, 2})
			if (cell.latency.percentiles[which])
				most = std::max(most, static_cast<double>(*cell.latency.percentiles[which]));
	}
	if (typical.empty())
		return most;
	std::ranges::sort(typical);
	return std::min(most, kCutFrom * typical[typical.size() / 2]);
}

// "waking: 12.3 µs, of which wakeup 8.20, runqueue/idle_exit 4.10"
std::string kind_tooltip(const CellResult &cell, const Bar &bar, LayerKind kind, double ns)
{
	std::string text =
		fmt::format("{}, {} · {}: {}", model::title(cell.cell), bar.what, style_of(kind).word, duration(ns));
	std::map<std::string, double> layers;
	for (const LayerRow &row : (*bar.range)->layers.rows())
		if (kind_of(row.layer, row.part, cell.is_of_library()) == kind)
			layers[fmt::format("{}{}{}", model::name(row.layer), row.part == model::Part::None ? "" : "/",
							   model::name(row.part))] += row.mean_ns;
	for (const auto &[layer, layer_ns] : layers)
		text += fmt::format("\n{} {}", layer, duration(layer_ns));
	return text;
}

class Picture {
public:
	explicit Picture(const RunResult &result) : result_(result), most_ns_(axis_end(result)) {}

	std::string svg(const GroupedCells &cells)
	{
		double y = 34;
		std::string rows;
		for (const CellGroup &group : cells.groups) {
			rows +=
				fmt::format("<text class=\"group\" x=\"0\" y=\"{:.0f}\">{}</text>\n", y + 19, escaped(group.heading));
			y += kHeading;
			for (const size_t cell : group.cells) {
				rows += row(cell, cells.labels[cell], y);
				y += kCellRow;
			}
		}
		return fmt::format("<svg class=\"picture\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" "
						   "aria-label=\"Latency of each cell by kinds of time\">\n{2}{3}</svg>\n",
						   kPictureWidth, y + 6, axis(y), rows);
	}

private:
	double x_of(double ns) const { return kLabel + (most_ns_ > 0 ? std::min(ns / most_ns_, 1.0) * kBars : 0); }

	std::string axis(double bottom) const
	{
		std::string text = "<g class=\"axis\">";
		for (const double us : axis_values(most_ns_ / kNsPerAxisUnit, 8))
			text += fmt::format("<path d=\"M{0:.1f} 24V{1:.0f}\"/><text text-anchor=\"middle\" x=\"{0:.1f}\" "
								"y=\"16\">{2:g}</text>",
								x_of(us * kNsPerAxisUnit), bottom, us);
		return text + fmt::format("<text x=\"0\" y=\"16\">one-way latency, µs</text><text text-anchor=\"end\" "
								  "x=\"{:.0f}\" y=\"16\">p50, µs</text></g>\n",
								  kPictureWidth);
	}

	std::string row(size_t index, const std::string &name, double y) const
	{
		const CellResult &cell = result_.cells[index];
		std::string text =
			fmt::format("<g class=\"row\" data-cell=\"{}\"><title>{}</title><rect class=\"back\" x=\"0\" y=\"{:.0f}\" "
						"width=\"{:.0f}\" height=\"{:.0f}\"/><text x=\"8\" y=\"{:.0f}\">{}</text>",
						index, escaped(model::title(cell.cell)), y, kPictureWidth, kCellRow - 2, y + 17,
						escaped(fitted(name, kLabel - 8)));
		double top = y + 4;
		for (const Bar &bar : bars_of(cell)) {
			text += drawn(cell, bar, top);
			top += bar.height + 2;
		}
		text += mark(cell, 0, y + 2) + mark(cell, 2, y + 2);
		if (const double slow_ns = length_of(bars_of(cell)[1]); slow_ns > 0)
			text += fmt::format("<text class=\"axis\" text-anchor=\"end\" x=\"{:.0f}\" y=\"{:.0f}\">slow {}</text>",
								kPictureWidth - 4, y + 29, duration(slow_ns));
		return text + fmt::format("<text class=\"value\" text-anchor=\"end\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text></g>\n",
								  kPictureWidth - 4, y + 15, escaped(percentile_text(cell.latency, 0)));
	}

	std::string drawn(const CellResult &cell, const Bar &bar, double y) const
	{
		if (!*bar.range)
			return "";
		if (!bar.tells)
			return bar.height < kTypicalBar
					   ? ""
					   : fmt::format("<text class=\"axis\" x=\"{:.0f}\" y=\"{:.0f}\">the path is known for {} of its "
									 "messages only</text>",
									 kLabel + 6, y + 12, percent((*bar.range)->share_known()));
		const auto kinds = by_kind((*bar.range)->layers.rows(), cell.is_of_library());
		std::string text;
		double from = 0;
		for (size_t i = 0; i < kLayerKinds; ++i) {
			const double left = x_of(from), right = x_of(from + kinds[i]);
			if (kinds[i] > 0)
				text += fmt::format("<rect class=\"kind-{}\" x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" "
									"height=\"{:.0f}\"><title>{}</title></rect>",
									i, left, y, right - left, bar.height,
									escaped(kind_tooltip(cell, bar, static_cast<LayerKind>(i), kinds[i])));
			from += kinds[i];
		}
		if (from > most_ns_)
			text += fmt::format("<path class=\"cut\" d=\"M{:.0f} {:.0f}v{:.0f}l5 {:.1f}z\"/>", kLabel + kBars, y,
								bar.height, -bar.height / 2);
		return text;
	}

	// A percentile without probes, with its interval.
	std::string mark(const CellResult &cell, size_t which, double y) const
	{
		const auto &value = cell.latency.percentiles[which];
		const auto &interval = cell.latency.intervals[which];
		if (!value || static_cast<double>(*value) > most_ns_)
			return "";
		const double x = x_of(static_cast<double>(*value));
		std::string text = fmt::format("<path class=\"mark\" d=\"M{:.1f} {:.0f}v{}\"/>", x, y, which == 0 ? 18 : 27);
		if (interval)
			text += fmt::format("<path class=\"mark thin\" d=\"M{:.1f} {:.0f}H{:.1f}\"/>", x_of(interval->low),
								y + (which == 0 ? 0 : 27), x_of(interval->high));
		return fmt::format("<g><title>{}: {} µs without probes</title>{}</g>", which == 0 ? "p50" : "p99",
						   escaped(percentile_text(cell.latency, which)), text);
	}

	const RunResult &result_;
	const double most_ns_;
};

} // namespace

std::string first_picture(const RunResult &result, const GroupedCells &cells) { return Picture(result).svg(cells); }

} // namespace icepath::report
