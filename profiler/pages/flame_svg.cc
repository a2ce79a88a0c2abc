// SPDX-License-Identifier: Apache-2.0
#include "profiler/pages/flame_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string_view>
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

size_t depth_of(const analysis::FlameFrame &frame)
{
	size_t deepest = 0;
	for (const analysis::FlameFrame &child : frame.children)
		deepest = std::max(deepest, depth_of(child));
	return deepest + 1;
}

void add_kinds(const analysis::FlameFrame &frame, std::array<double, analysis::kLayerKinds> &widths)
{
	if (frame.kind && frame.children.empty())
		widths[static_cast<size_t>(*frame.kind)] += frame.width();
	for (const analysis::FlameFrame &child : frame.children)
		add_kinds(child, widths);
}

// By how much a message takes longer than in the other run, as the class and opacity of its frame.
std::string change_style(const analysis::FlameFrame &frame, double most)
{
	const double change = frame.mean() - frame.other();
	return fmt::format("class=\"{}\" fill-opacity=\"{:.2f}\"", change > 0 ? "grew" : "shrank",
					   most > 0 ? std::fabs(change) / most : 0);
}

double greatest_change(const analysis::FlameFrame &frame)
{
	double most = std::fabs(frame.mean() - frame.other());
	for (const analysis::FlameFrame &child : frame.children)
		most = std::max(most, greatest_change(child));
	return most;
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
			all_ns_ += cell.layers.width();
			depth_ = std::max(depth_, depth_of(cell.layers));
			most_change_ = std::max(most_change_, greatest_change(cell.layers));
			add_kinds(cell.layers, kinds_);
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
			draw(cell.layers, x, cell.layers);
			x += cell.layers.width() * scale();
		}
		return std::move(out_);
	}

private:
	double scale() const { return all_ns_ > 0 ? (kSvgWidth - 2 * kMargin) / all_ns_ : 0; } // pixels per nanosecond

	static std::string item(double x, const std::string &style, const std::string &word)
	{
		return fmt::format("<rect {} x=\"{:.0f}\" y=\"50\" width=\"12\" height=\"12\"/><text x=\"{:.0f}\" "
						   "y=\"61\">{}</text>\n",
						   style, x, x + 17, escaped(word));
	}

	std::string tooltip(const analysis::FlameFrame &frame, const std::string &way,
						const analysis::FlameFrame &cell) const
	{
		if (graph_.other.empty())
			return fmt::format("{}: {} of a message, {} of its {}", way, stats::duration(frame.mean()),
							   stats::percent(cell.mean() > 0 ? frame.mean() / cell.mean() : 0),
							   stats::duration(cell.mean()));
		const double change = frame.mean() - frame.other();
		return fmt::format("{}: {}{} a message: {}, and {} in {}", way, change > 0 ? "+" : "", stats::duration(change),
						   stats::duration(frame.mean()), stats::duration(frame.other()), graph_.other);
	}

	std::string style(const analysis::FlameFrame &frame, size_t depth) const
	{
		if (!graph_.other.empty())
			return change_style(frame, most_change_);
		if (depth == 0)
			return "class=\"cell\"";
		std::array<double, analysis::kLayerKinds> widths{};
		add_kinds(frame, widths);
		return fmt::format("class=\"kind-{}\"", std::ranges::max_element(widths) - widths.begin());
	}

	void draw(const analysis::FlameFrame &frame, double x, const analysis::FlameFrame &cell)
	{
		const double width = frame.width() * scale();
		if (width < kNarrowestFrame)
			return;
		const size_t depth = above_.size();
		above_.push_back(frame.name);
		const double y = kTop + kAxis + kFrameRow * static_cast<double>(depth);
		out_ +=
			fmt::format("<g {}><title>{}</title><rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" "
						"height=\"{:.0f}\"/>",
						style(frame, depth), escaped(tooltip(frame, way_to(above_), cell)), x, y, width, kFrameRow - 1);
		if (const std::string label = fitted(frame.name, width); !label.empty())
			out_ += fmt::format("<text x=\"{:.2f}\" y=\"{:.0f}\">{}</text>", x + 3, y + 14, escaped(label));
		out_ += "</g>\n";
		for (const analysis::FlameFrame &child : frame.children) {
			draw(child, x, cell);
			x += child.width() * scale();
		}
		above_.pop_back();
	}

	const analysis::FlameGraph &graph_;
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
