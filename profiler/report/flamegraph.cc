// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/flamegraph.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/model/cell_title.h"
#include "profiler/report/layer_style.h"
#include "profiler/report/quantity.h"

namespace icepath::report {
namespace {

constexpr double kWidth = 1200, kMargin = 10, kFrameHeight = 18, kTop = 62;
constexpr double kCharacter = 7.2; // of the 12-pixel monospace font
constexpr double kNarrowest = 0.2; // pixels; narrower frames can't be seen

std::string escaped(const std::string &text)
{
	std::string safe;
	for (const char c : text)
		switch (c) {
		case '&':
			safe += "&amp;";
			break;
		case '<':
			safe += "&lt;";
			break;
		case '>':
			safe += "&gt;";
			break;
		case '"':
			safe += "&quot;";
			break;
		default:
			safe += c;
		}
	return safe;
}

// The first `count` characters, none of them cut.
std::string first_characters(const std::string &text, size_t count)
{
	size_t at = 0;
	for (; at < text.size(); ++at)
		if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80 && count-- == 0)
			break;
	return text.substr(0, at);
}

struct Node {
	Frame frame;
	uint64_t ns = 0;
	std::vector<Node> children;
};

// Stacks come sorted, so a frame's children are adjacent.
Node tree_of(const Stacks &stacks)
{
	Node root{{"all messages with a complete path"}, 0, {}};
	for (const auto &[stack, ns] : stacks) {
		Node *node = &root;
		node->ns += ns;
		for (const Frame &frame : stack) {
			if (node->children.empty() || node->children.back().frame != frame)
				node->children.push_back({frame, 0, {}});
			node = &node->children.back();
			node->ns += ns;
		}
	}
	return root;
}

size_t depth_of(const Node &node)
{
	size_t deepest = 0;
	for (const Node &child : node.children)
		deepest = std::max(deepest, depth_of(child));
	return deepest + 1;
}

class Drawing {
public:
	Drawing(const Node &root, const MessagesOfCells &messages)
		: root_(root), messages_(messages), depth_(depth_of(root))
	{}

	std::string svg(const std::string &title)
	{
		const double height = kTop + kFrameHeight * static_cast<double>(depth_) + kMargin;
		out_ = fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
						   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
						   "width=\"{0:.0f}\" height=\"{1:.0f}\" "
						   "font-family=\"monospace\" font-size=\"12\">\n"
						   "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
						   "<text x=\"{2:.0f}\" y=\"18\" font-size=\"14\" font-weight=\"bold\">Where the latency of "
						   "messages went</text>\n"
						   "<text x=\"{2:.0f}\" y=\"36\" fill=\"#555555\">{3}</text>\n"
						   "<text x=\"{2:.0f}\" y=\"54\" fill=\"#555555\">{4}</text>\n",
						   kWidth, height, kMargin, escaped(title), escaped(unit()));
		if (root_.ns > 0)
			draw(root_, {}, kMargin, kWidth - 2 * kMargin);
		return out_ + "</svg>\n";
	}

private:
	std::string unit() const
	{
		uint64_t all = 0;
		for (const auto &[cell, messages] : messages_)
			all += messages;
		return fmt::format(
			"Width: nanoseconds on the path of messages, added up over the {} that have a complete path. "
			"Latency, not CPU time.",
			count(all));
	}

	// A frame's messages are those of its cell.
	uint64_t messages_of(const std::vector<Frame> &way) const
	{
		const auto at = way.size() < 2 ? messages_.end() : messages_.find({way[0], way[1]});
		return at == messages_.end() ? 0 : at->second;
	}

	std::string tooltip(const Node &node, const std::vector<Frame> &way) const
	{
		std::string text;
		for (const Frame &frame : way)
			text += (text.empty() ? "" : " → ") + frame.name;
		if (way.empty())
			text = node.frame.name;
		text += fmt::format(": {} in sum", duration(static_cast<double>(node.ns)));
		if (const uint64_t messages = messages_of(way); messages > 0)
			text +=
				fmt::format(", {} a message", duration(static_cast<double>(node.ns) / static_cast<double>(messages)));
		return text + ", " + percent(static_cast<double>(node.ns) / static_cast<double>(root_.ns));
	}

	// `way`: the frames from the target to `node`; empty for the root.
	void draw(const Node &node, const std::vector<Frame> &way, double x, double width)
	{
		if (width < kNarrowest)
			return;
		const size_t level = way.size();
		const double y = kTop + kFrameHeight * static_cast<double>(depth_ - 1 - level);
		const char *colour = node.frame.layer >= 0 ? kLayerStyles[static_cast<size_t>(node.frame.layer)].colour
							 : level == 0          ? "#d8d8d8"
												   : "#e6e2d8";
		out_ += fmt::format("<g><title>{}</title><rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" "
							"fill=\"{}\" stroke=\"#ffffff\" "
							"stroke-width=\"0.5\"/>",
							escaped(tooltip(node, way)), x, y, width, kFrameHeight - 1, colour);
		const auto room = static_cast<size_t>(std::max(0.0, (width - 6) / kCharacter));
		if (room >= 3) {
			const bool fits = columns(node.frame.name) <= room;
			out_ += fmt::format("<text x=\"{:.2f}\" y=\"{:.0f}\">{}</text>", x + 3, y + 13,
								escaped(fits ? node.frame.name : first_characters(node.frame.name, room - 2) + ".."));
		}
		out_ += "</g>\n";
		for (const Node &child : node.children) {
			const double part = width * static_cast<double>(child.ns) / static_cast<double>(node.ns);
			std::vector<Frame> further = way;
			further.push_back(child.frame);
			draw(child, further, x, part);
			x += part;
		}
	}

	const Node &root_;
	const MessagesOfCells &messages_;
	const size_t depth_;
	std::string out_;
};

} // namespace

std::string flamegraph_svg(const Stacks &stacks, const MessagesOfCells &messages, const std::string &title)
{
	const Node root = tree_of(stacks);
	return Drawing(root, messages).svg(title);
}

namespace {

// ';' separates frames, and the last space the weight.
std::string frame_name(std::string name)
{
	std::ranges::replace(name, ';', ':');
	return name.empty() ? "?" : name;
}

// Cells that differ in more than target and payload are different measurements, so their frames show it.
std::vector<Frame> cell_frames(const model::Cell &cell)
{
	return {{frame_name(cell.target)}, {frame_name(model::variant(cell))}};
}

} // namespace

Stacks stacks(const RunResult &result)
{
	Stacks all;
	for (const CellResult &cell : result.cells)
		for (const LayerRow &row : cell.layers.rows()) {
			const int layer = static_cast<int>(row.layer);
			std::vector<Frame> stack = cell_frames(cell.cell);
			stack.push_back({std::string(model::name(row.layer)), layer});
			if (row.part != model::Part::None)
				stack.push_back({std::string(model::name(row.part)), layer});
			stack.push_back({frame_name(row.thread), layer});
			all[stack] += row.total_ns;
		}
	return all;
}

MessagesOfCells messages_of_cells(const RunResult &result)
{
	MessagesOfCells all;
	for (const CellResult &cell : result.cells)
		if (cell.complete() > 0)
			all[cell_frames(cell.cell)] += cell.complete();
	return all;
}

std::string folded(const Stacks &stacks)
{
	std::string text;
	for (const auto &[stack, ns] : stacks) {
		for (size_t i = 0; i < stack.size(); ++i)
			text += (i == 0 ? "" : ";") + stack[i].name;
		text += fmt::format(" {}\n", ns);
	}
	return text;
}

} // namespace icepath::report
