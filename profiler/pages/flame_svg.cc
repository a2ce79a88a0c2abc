// SPDX-License-Identifier: Apache-2.0
#include "profiler/pages/flame_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/analysis/layer_style.h"
#include "profiler/pages/browser/bundles.h"
#include "profiler/pages/flame_json.h"
#include "profiler/pages/markup.h"
#include "profiler/stats/quantity.h"

namespace icepath::pages {
namespace {

constexpr double kSvgWidth = 1200, kMargin = 10, kTop = 86, kAxis = 22, kFrameRow = 20;
constexpr double kNarrowestFrame = 0.2; // pixels; narrower frames can't be seen

// What is known of a frame by all the stacks in it. Made once for each frame: a tree may be deep, and wide.
struct Sums {
	double mean = 0, other = 0, width = 0, greatest_change = 0; // as FlameFrame has them; ns
	std::array<double, analysis::kLayerKinds> kinds{}; // widths
	size_t depth = 1;

	double change() const { return mean - other; }
};
using SumsOfFrames = std::unordered_map<const analysis::FlameFrame *, Sums>;

Sums sums_of_stack(const analysis::FlameFrame &last)
{
	Sums sums{.mean = last.mean(), .other = last.other(), .width = last.width()};
	if (last.kind)
		sums.kinds[static_cast<size_t>(*last.kind)] = sums.width;
	return sums;
}

const Sums &add_sums(const analysis::FlameFrame &frame, SumsOfFrames &all)
{
	Sums sums = frame.children.empty() ? sums_of_stack(frame) : Sums();
	for (const analysis::FlameFrame &child : frame.children) {
		const Sums &more = add_sums(child, all);
		sums.mean += more.mean;
		sums.other += more.other;
		sums.width += more.width;
		sums.greatest_change = std::max(sums.greatest_change, more.greatest_change);
		for (size_t i = 0; i < sums.kinds.size(); ++i)
			sums.kinds[i] += more.kinds[i];
		sums.depth = std::max(sums.depth, more.depth + 1);
	}
	sums.greatest_change = std::max(sums.greatest_change, std::fabs(sums.change()));
	return all[&frame] = sums;
}

// By how much a message takes longer than in the other run, as the class and opacity of its frame.
std::string change_style(const Sums &frame, double most)
{
	return fmt::format("class=\"{}\" fill-opacity=\"{:.2f}\"", frame.change() > 0 ? "grew" : "shrank",
					   most > 0 ? std::fabs(frame.change()) / most : 0);
}

// "cell → layer → thread → …": without the middle for a deep frame, because every frame has such a text.
std::string way_to(const std::vector<std::string_view> &names)
{
	constexpr size_t kWhole = 10, kFirst = 4, kLast = 3;
	if (names.size() <= kWhole)
		return fmt::format("{}", fmt::join(names, " → "));
	return fmt::format("{} → … → {}", fmt::join(names.begin(), names.begin() + kFirst, " → "),
					   fmt::join(names.end() - kLast, names.end(), " → "));
}

class Drawing {
public:
	explicit Drawing(const analysis::FlameGraph &graph) : graph_(graph)
	{
		for (const analysis::FlameCell &cell : graph.cells) {
			const Sums &sums = add_sums(cell.layers, sums_);
			all_ns_ += sums.width;
			depth_ = std::max(depth_, sums.depth);
			most_change_ = std::max(most_change_, sums.greatest_change);
			for (size_t i = 0; i < kinds_.size(); ++i)
				kinds_[i] += sums.kinds[i];
		}
	}

	double height() const { return kTop + kAxis + kFrameRow * static_cast<double>(depth_) + 2 * kMargin; }

	std::string legend() const
	{
		if (!graph_.other.empty())
			return item(kMargin, "class=\"grew\"", "takes longer now") +
				   item(kMargin + 180, "class=\"shrank\"", "takes less than in " + graph_.other);
		std::string text;
		double x = kMargin;
		for (size_t i = 0; i < analysis::kLayerKinds; ++i)
			if (kinds_[i] > 0) {
				const std::string word = analysis::kKindStyles[i].word;
				text += item(x, fmt::format("class=\"kind-{}\"", i), word);
				x += 36 + 7.25 * static_cast<double>(word.size());
			}
		return text;
	}

	std::string frames()
	{
		for (const double us : axis_values(all_ns_ / kNsPerAxisUnit, 10)) {
			const double x = kMargin + us * kNsPerAxisUnit * scale();
			out_ += fmt::format("<path class=\"axis\" d=\"M{0:.2f} {1:.0f}v5\"/><text class=\"axis\" "
								"text-anchor=\"{4}\" x=\"{0:.2f}\" y=\"{2:.0f}\">{3:g} µs</text>\n",
								x, kTop + kAxis - 6, kTop + kAxis - 9, us, us > 0 ? "middle" : "start");
		}
		double x = kMargin;
		for (const analysis::FlameCell &cell : graph_.cells) {
			draw(cell.layers, x, sums_of(cell.layers));
			x += sums_of(cell.layers).width * scale();
		}
		return std::move(out_);
	}

private:
	const Sums &sums_of(const analysis::FlameFrame &frame) const { return sums_.at(&frame); }
	double scale() const { return all_ns_ > 0 ? (kSvgWidth - 2 * kMargin) / all_ns_ : 0; } // pixels per nanosecond

	static std::string item(double x, const std::string &style, const std::string &word)
	{
		return fmt::format("<rect {} x=\"{:.0f}\" y=\"50\" width=\"12\" height=\"12\"/><text x=\"{:.0f}\" "
						   "y=\"61\">{}</text>\n",
						   style, x, x + 17, escaped(word));
	}

	std::string tooltip(const Sums &frame, const std::string &way, const Sums &cell) const
	{
		if (graph_.other.empty())
			return fmt::format("{}: {} of a message, {} of its {}", way, stats::duration(frame.mean),
							   stats::percent(cell.mean > 0 ? frame.mean / cell.mean : 0), stats::duration(cell.mean));
		const double change = frame.change();
		return fmt::format("{}: {}{} a message: {}, and {} in {}", way, change > 0 ? "+" : "", stats::duration(change),
						   stats::duration(frame.mean), stats::duration(frame.other), graph_.other);
	}

	std::string style(const Sums &frame, size_t depth) const
	{
		if (!graph_.other.empty())
			return change_style(frame, most_change_);
		if (depth == 0)
			return "class=\"cell\"";
		return fmt::format("class=\"kind-{}\"", std::ranges::max_element(frame.kinds) - frame.kinds.begin());
	}

	void draw(const analysis::FlameFrame &frame, double x, const Sums &cell)
	{
		const Sums &sums = sums_of(frame);
		const double width = sums.width * scale();
		if (width < kNarrowestFrame)
			return;
		const size_t depth = above_.size();
		above_.push_back(frame.name);
		const double y = kTop + kAxis + kFrameRow * static_cast<double>(depth);
		out_ +=
			fmt::format("<g {}><title>{}</title><rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" "
						"height=\"{:.0f}\"/>",
						style(sums, depth), escaped(tooltip(sums, way_to(above_), cell)), x, y, width, kFrameRow - 1);
		if (const std::string label = fitted(frame.name, width); !label.empty())
			out_ += fmt::format("<text x=\"{:.2f}\" y=\"{:.0f}\">{}</text>", x + 3, y + 14, escaped(label));
		out_ += "</g>\n";
		for (const analysis::FlameFrame &child : frame.children) {
			draw(child, x, cell);
			x += sums_of(child).width * scale();
		}
		above_.pop_back();
	}

	const analysis::FlameGraph &graph_;
	SumsOfFrames sums_;
	double all_ns_ = 0, most_change_ = 0;
	size_t depth_ = 1;
	std::array<double, analysis::kLayerKinds> kinds_{};
	std::vector<std::string_view> above_; // names from the cell down to the frame that is drawn
	std::string out_;
};

const char *what_width_is(analysis::FlameKind kind)
{
	switch (kind) {
	case analysis::FlameKind::Path:
		break;
	case analysis::FlameKind::OnCpu:
		return "Width: µs that the cell's threads run for each of its messages. CPU time, not latency.";
	case analysis::FlameKind::OffCpu:
		return "Width: µs that the cell's threads sleep for each of its messages, by the stack with which they went to "
			   "sleep.";
	case analysis::FlameKind::Wakeup:
		return "Width: µs that the cell's threads sleep for each of its messages, by who woke them and with which "
			   "stack.";
	}
	return "Width: µs that a message of a cell takes, on average of those with a complete path. Latency, not CPU time.";
}

std::string what_is_shown(const analysis::FlameGraph &graph)
{
	std::string text = what_width_is(graph.kind);
	if (!graph.other.empty())
		text = fmt::format("Colour: by how many µs a message takes longer or shorter than in {}. Width: the longer of "
						   "both.",
						   graph.other);
	if (!graph.missing.empty())
		text += fmt::format(" Only one run has: {}", fmt::join(graph.missing, ", "));
	if (!graph.differing.empty())
		text += fmt::format(" Not compared, because they differ: {}", fmt::join(graph.differing, ", "));
	return text;
}

} // namespace

std::string flame_svg(const analysis::FlameGraph &graph, const std::string &title)
{
	Drawing drawing(graph);
	return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
					   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
					   "height=\"{1:.0f}\" font-family=\"monospace\" font-size=\"12\">\n<style>\n{2}{3}</style>\n"
					   "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
					   "<text x=\"{4:.0f}\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{5}</text>\n"
					   "<text class=\"axis\" x=\"{4:.0f}\" y=\"39\">{6}</text>\n<g id=\"legend\">\n{7}</g>\n"
					   "<text id=\"details\" x=\"{4:.0f}\" y=\"80\"></text>\n<g id=\"frames\">\n{8}</g>\n"
					   "<script type=\"application/json\" id=\"flame\">{9}</script>\n<script>{10}</script>\n</svg>\n",
					   kSvgWidth, drawing.height(), kind_rules(), escaped(std::string(kFlameStyle)), kMargin,
					   escaped(fitted(title, (kSvgWidth - 2 * kMargin) * 12 / 14)), escaped(what_is_shown(graph)),
					   drawing.legend(), drawing.frames(), script_json(flame_json(graph)),
					   escaped(std::string(kFlameScript)));
}

} // namespace icepath::pages
