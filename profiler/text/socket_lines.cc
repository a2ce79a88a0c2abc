// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/socket_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/arm_lines.h"
#include "profiler/text/columns.h"

namespace icepath::text {
namespace {

// "208 KiB", "2.5 MiB"
std::string size_text(uint64_t bytes)
{
	constexpr double kKiB = 1024, kMiB = kKiB * 1024;
	const auto size = static_cast<double>(bytes);
	return size < kKiB   ? fmt::format("{} B", bytes)
		   : size < kMiB ? fmt::format("{:.3g} KiB", size / kKiB)
						 : fmt::format("{:.3g} MiB", size / kMiB);
}

std::string sizes_text(const model::BufferSizes &sizes)
{
	return size_text(sizes.low) + (sizes.low == sizes.high ? "" : ".." + size_text(sizes.high));
}

// "2.5 MiB to send, 128 KiB to receive"
std::string buffers_text(const model::SocketGroup &group)
{
	const auto set = [&](uint32_t bit) { return (group.buffers_set & bit) != 0 ? " (set)" : ""; };
	return fmt::format("{} to send{}, {} to receive{}", sizes_text(group.send_buffer), set(model::kSendBufferSet),
					   sizes_text(group.receive_buffer), set(model::kReceiveBufferSet));
}

// "2 TCP (cubic, no delay): 2.5 MiB to send, 128 KiB to receive"
std::string group_text(const model::SocketGroup &group)
{
	std::string options = group.congestion_name();
	if (group.no_delay != 0)
		options += std::string(options.empty() ? "" : ", ") + "TCP_NODELAY";
	return fmt::format("{} {}{}: {}", group.count, model::socket_name(group),
					   options.empty() ? "" : fmt::format(" ({})", options), buffers_text(group));
}

std::string end_text(const analysis::SocketUse::End &end)
{
	std::vector<std::string> texts;
	for (const model::SocketGroup &group : end.groups)
		texts.push_back(group_text(group));
	return fmt::format("{}", fmt::join(texts, "; "));
}

std::string options_text(const analysis::SocketUse &sockets)
{
	const std::string first = end_text(sockets.ends[0]), second = end_text(sockets.ends[1]);
	if (first == second)
		return "each side " + first;
	if (first.empty() || second.empty())
		return first + second;
	return fmt::format("sender {} · receiver {}", first, second);
}

std::string counts_text(const analysis::SocketUse &sockets)
{
	std::vector<std::string> texts;
	const auto add = [&](uint64_t number, const char *what) {
		if (number > 0 && number != model::kNotCounted)
			texts.push_back(fmt::format("{} {}", stats::count(number), what));
	};
	add(sockets.dropped(), "packets dropped at its own sockets");
	add(sockets.retransmitted(), "TCP segments sent again by its own sockets");
	std::string text = fmt::format("{}", fmt::join(texts, " · "));
	texts.clear();
	if (sockets.counts)
		for (const model::KernelCountField &field : model::kKernelCountFields)
			add((*sockets.counts).*field.count, field.words);
	if (texts.empty())
		return text;
	return fmt::format("{}{}in its network namespace {}", text, text.empty() ? "" : " · ", fmt::join(texts, " · "));
}

// Smallest and greatest of a cell's sockets: without what TCP chooses as it goes, which isn't a setting.
struct BufferSettings {
	std::optional<model::BufferSizes> send, receive;

	void add(const model::SocketGroup &group)
	{
		const bool fixed = group.congestion_name().empty();
		const auto join = [&](std::optional<model::BufferSizes> &all, const model::BufferSizes &more, uint32_t bit) {
			if (!fixed && (group.buffers_set & bit) == 0)
				return;
			if (all)
				all->add(more);
			else
				all = more;
		};
		join(send, group.send_buffer, model::kSendBufferSet);
		join(receive, group.receive_buffer, model::kReceiveBufferSet);
	}
	std::string text() const
	{
		if (send && receive && *send == *receive)
			return "buffers " + sizes_text(*send);
		std::vector<std::string> texts;
		if (send)
			texts.push_back("send buffer " + sizes_text(*send));
		if (receive)
			texts.push_back("receive buffer " + sizes_text(*receive));
		return fmt::format("{}", fmt::join(texts, ", "));
	}
};

// What one line can hold of a cell's sockets: "cubic", "cubic, receive buffer 1 MiB", "buffers 208 KiB".
std::string brief_text(const analysis::SocketUse &sockets)
{
	std::set<std::string> words;
	BufferSettings buffers;
	for (const analysis::SocketUse::End &end : sockets.ends)
		for (const model::SocketGroup &group : end.groups) {
			if (const std::string name = group.congestion_name(); !name.empty())
				words.insert(name);
			buffers.add(group);
		}
	std::vector<std::string> texts(words.begin(), words.end());
	if (const std::string text = buffers.text(); !text.empty())
		texts.push_back(text);
	return fmt::format("{}", fmt::join(texts, ", "));
}

bool has_congestion_control(const analysis::CellResult &cell)
{
	return std::ranges::any_of(cell.sockets.ends, [](const analysis::SocketUse::End &end) {
		return std::ranges::any_of(end.groups,
								   [](const model::SocketGroup &group) { return !group.congestion_name().empty(); });
	});
}

} // namespace

void add_socket_line(Page &page, const analysis::RunResult &result)
{
	std::vector<std::pair<std::string, std::vector<std::string>>> by_text; // in the order of cells
	bool any_control = false;
	for (const analysis::CellResult &cell : result.cells) {
		if (!cell.sockets.any())
			continue;
		any_control = any_control || has_congestion_control(cell);
		const std::string text = brief_text(cell.sockets);
		const auto at = std::ranges::find(by_text, text, [](const auto &one) { return one.first; });
		std::vector<std::string> &targets =
			(at == by_text.end() ? by_text.emplace_back(text, std::vector<std::string>()) : *at).second;
		if (const std::string of = target_of(cell.cell); std::ranges::find(targets, of) == targets.end())
			targets.push_back(of);
	}
	if (!any_control && by_text.size() < 2)
		return;
	std::vector<std::string> facts;
	for (const auto &[text, targets] : by_text)
		facts.push_back(fmt::format("{}: {}", fmt::join(targets, ", "), text));
	page.line_with_command(pad_right("sockets", 10), facts, "icepath report -v RUN");
}

void add_sockets(Page &page, const analysis::RunResult &result)
{
	bool any = false;
	std::set<uint64_t> mtus;
	for (const analysis::CellResult &cell : result.cells) {
		if (!cell.sockets.any())
			continue;
		if (!any)
			page.heading(
				"sockets, and their buffers as the kernel counts them; (set): by the program, else TCP changes "
				"them");
		any = true;
		const std::string counts = counts_text(cell.sockets);
		page.paragraph("",
					   fmt::format("{}: {}{}", model::title(cell.cell), options_text(cell.sockets),
								   counts.empty() ? "" : " · in blocks: " + counts),
					   2);
		if (cell.sockets.loopback_mtu > 0)
			mtus.insert(cell.sockets.loopback_mtu);
	}
	if (!mtus.empty())
		page.paragraph("", fmt::format("MTU of the loopback device: {} bytes", fmt::join(mtus, ", ")), 2);
	if (any)
		page.line();
}

} // namespace icepath::text
