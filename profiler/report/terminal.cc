// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

// C has one name for the function and another for the struct; C++ sees one hide the other.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "icepath/plugin.h"
#pragma GCC diagnostic pop
#include "profiler/report/cell_table.h"
#include "profiler/report/counter_table.h"
#include "profiler/report/environment.h"
#include "profiler/report/hops.h"
#include "profiler/report/notices.h"
#include "profiler/report/page.h"
#include "profiler/report/quantity.h"
#include "profiler/report/worst_message.h"
#include "profiler/rundir/cell_title.h"

namespace icepath::report {
namespace {

constexpr size_t kCulprits = 5;

// The table shall be seen first: who, where, on which CPUs, and whether it is all.
void add_head(Page &page, const RunResult &result)
{
	const rundir::Head &head = result.head;
	page.heading(fmt::format("icepath {} · {} · {}", printable(head.icepath_version), printable(head.started_utc),
							 printable(head.command_line)));
	add_machine(page, head);
	std::set<std::string> libraries;
	for (const CellResult &cell : result.cells)
		if (!cell.cell.library.empty())
			libraries.insert(printable(cell.cell.library));
	if (!libraries.empty())
		page.paragraph("", fmt::format("{}", fmt::join(libraries, " · ")), 0);
	if (const std::string why = unfinished(result); !why.empty())
		page.heading("partial: " + why);
	page.line();
}

void add_notices(Page &page, const RunResult &result, bool all)
{
	const Notices told = notices(result);
	const std::vector<std::string> sentences = all ? told.all() : told.brief();
	std::string label = "notice";
	for (const std::string &sentence : sentences) {
		page.paragraph(label, printable(sentence));
		label = "";
	}
	if (!sentences.empty())
		page.line();
}

void add_hops(Page &page, const std::vector<CellResult> &cells)
{
	bool any = false;
	for (const CellResult &cell : cells) {
		std::string way;
		for (const Hop &hop : hops(cell.layers))
			way += fmt::format("{}{} {}", way.empty() ? "" : " → ",
							   hop.role == Role::Relay ? printable(hop.threads)
													   : std::string(kRoleNames[static_cast<size_t>(hop.role)]),
							   microseconds(hop.mean_ns));
		if (way.empty() || !cell.tells_where())
			continue;
		if (!any)
			page.heading("the way of a message by threads: mean µs at each, and on the way to it, with probes");
		any = true;
		page.paragraph("", fmt::format("{}: {}", rundir::title(cell.cell), way), 2);
	}
	if (any)
		page.line();
}

// What the bars show, as numbers, of every cell: the longest first.
void add_layers(Page &page, const std::vector<CellResult> &cells)
{
	constexpr double kLeastShare = 0.005;
	bool any = false;
	for (const CellResult &cell : cells) {
		if (cell.complete() == 0)
			continue;
		const auto sums = by_layer(cell.layers.rows());
		std::vector<std::pair<uint64_t, path::Layer>> longest;
		for (size_t i = 0; i < sums.size(); ++i)
			if (static_cast<double>(sums[i]) >= kLeastShare * static_cast<double>(cell.layers.total_ns()))
				longest.emplace_back(sums[i], static_cast<path::Layer>(i));
		std::ranges::stable_sort(longest, std::ranges::greater(), [](const auto &one) { return one.first; });
		const auto mean_us = [&](uint64_t ns) {
			return microseconds(static_cast<double>(ns) / static_cast<double>(cell.complete()));
		};
		std::string text;
		for (const auto &[ns, layer] : longest)
			text += fmt::format(" · {} {}", path::name(layer), mean_us(ns));
		if (!any)
			page.heading("layers of a message: mean µs, with probes");
		any = true;
		page.paragraph("",
					   fmt::format("{}: {} of {} messages{}, mean {}{}", rundir::title(cell.cell),
								   count(cell.complete()), count(cell.probed),
								   cell.tells_where() ? "" : ", no sample of all", mean_us(cell.layers.total_ns()),
								   text),
					   2);
	}
	if (any)
		page.line();
}

void add_system_calls(Page &page, const RunResult &result)
{
	constexpr size_t kShown = 8;
	constexpr double kRare = 0.01; // per message
	bool any = false;
	for (const CellResult &cell : result.cells) {
		const std::vector<CallRow> rows = cell.system_calls.of_all_threads();
		std::string text;
		for (size_t i = 0; i < std::min(rows.size(), kShown) && rows[i].per_message >= kRare; ++i)
			text += fmt::format("{}{} {}", i > 0 ? " · " : "", rows[i].call,
								rows[i].per_message < 99.5 ? fmt::format("{:.2g}", rows[i].per_message)
														   : amount(rows[i].per_message));
		if (text.empty())
			continue;
		if (!any)
			page.heading("system calls per message, of all threads of both sides and of their daemon, with probes");
		any = true;
		page.paragraph("", fmt::format("{}: {}", rundir::title(cell.cell), text), 2);
	}
	if (any)
		page.line();
}

// What the libraries made of what was asked for, and of the rest; cells with the same stand together.
void add_granted(Page &page, const std::vector<CellResult> &cells)
{
	std::map<std::string, std::vector<std::string>> by_text;
	for (const CellResult &cell : cells) {
		if (!cell.cell.granted.any())
			continue;
		const std::string asked = rundir::text(cell.cell.qos);
		const std::string who = printable(cell.cell.target) + (asked.empty() ? "" : " " + asked);
		auto &names = by_text[rundir::text(cell.cell.granted)];
		if (std::ranges::find(names, who) == names.end())
			names.push_back(who);
	}
	if (by_text.empty())
		return;
	page.heading("quality of service that was granted");
	for (const auto &[granted, names] : by_text)
		page.paragraph("", fmt::format("{}: {}", fmt::join(names, ", "), granted), 2);
	page.line();
}

void add_worst(Page &page, const RunResult &result)
{
	const WorstMessage *worst = nullptr;
	uint64_t slowest = 0;
	for (const CellResult &cell : result.cells) {
		if (cell.cell.capabilities & ICEPATH_NOT_IPC)
			continue;
		slowest = std::max({slowest, cell.latency.max, cell.latency_probed.max});
		if (cell.worst && (!worst || cell.worst->latency_ns() > worst->latency_ns()))
			worst = &*cell.worst;
	}
	if (!worst)
		return;
	const std::vector<std::string> lines = explain(*worst, result.cells[worst->cell].cell, page.look());
	page.heading(lines[0]);
	for (size_t i = 1; i < lines.size(); ++i)
		page.line(page.spelled(lines[i]));
	if (slowest > worst->latency_ns())
		page.line(page.spelled(
			fmt::format("  the slowest message of all took {}, in a block without probes or on a path that isn't whole",
						duration(static_cast<double>(slowest)))));
	page.line();
}

void add_culprits(Page &page, const std::vector<CellResult> &cells)
{
	struct Sum {
		std::string name, layer;
		uint64_t ns = 0, segments = 0;
	};
	std::map<std::pair<std::string, std::string>, Sum> by_name; // all cells together
	for (const CellResult &cell : cells)
		for (const CulpritRow &row : cell.culprits.top(SIZE_MAX)) {
			const std::string name = printable(row.name), layer(path::name(row.layer));
			Sum &sum = by_name.try_emplace({name, layer}, Sum{name, layer, 0, 0}).first->second;
			sum.ns += row.total_ns;
			sum.segments += row.segments;
		}
	if (by_name.empty())
		return;
	std::vector<Sum> sums;
	for (const auto &[key, sum] : by_name)
		sums.push_back(sum);
	std::ranges::stable_sort(sums, std::ranges::greater(), &Sum::ns);
	sums.resize(std::min(sums.size(), kCulprits));
	size_t name_width = 0, layer_width = 0;
	for (const Sum &sum : sums) {
		name_width = std::max(name_width, columns(sum.name));
		layer_width = std::max(layer_width, columns(sum.layer));
	}
	page.heading("who took time from messages on their way");
	for (const Sum &sum : sums)
		page.line(page.spelled(fmt::format("  {}  {}  {}, {} {}", pad_right(sum.name, name_width),
										   pad_right(sum.layer, layer_width),
										   pad_left(duration(static_cast<double>(sum.ns)), 8), count(sum.segments),
										   sum.segments == 1 ? "time" : "times")));
	page.line();
}

} // namespace

std::string terminal_report(const RunResult &result, const Style &style)
{
	Page page({style.colour, style.unicode}, static_cast<size_t>(std::clamp(style.width, 40, 1000)));
	add_head(page, result);
	add_cell_table(page, result);
	add_hops(page, result.cells);
	if (style.verbose) {
		add_layers(page, result.cells);
		add_system_calls(page, result);
	}
	add_granted(page, result.cells);
	add_notices(page, result, style.verbose);
	add_counter_table(page, result.cells);
	add_worst(page, result);
	add_culprits(page, result.cells);
	add_noise(page, result.head, style.verbose);
	add_probes(page, result.head, style.verbose);
	if (!style.verbose)
		page.paragraph("more", "icepath report --verbose: layers in µs, the noise and what mends it, every notice");
	return page.take();
}

} // namespace icepath::report
