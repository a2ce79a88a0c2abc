// SPDX-License-Identifier: Apache-2.0
#include "profiler/pages/html_report.h"

#include <algorithm>
#include <fmt/format.h>

#include "profiler/analysis/cell_groups.h"
#include "profiler/analysis/layer_style.h"
#include "profiler/explain/difference.h"
#include "profiler/explain/tail.h"
#include "profiler/explain/trust.h"
#include "profiler/model/cell_title.h"
#include "profiler/pages/browser/bundles.h"
#include "profiler/pages/first_picture.h"
#include "profiler/pages/markup.h"
#include "profiler/pages/page_data.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/arm_lines.h"
#include "profiler/text/cause_words.h"
#include "profiler/text/finding_words.h"
#include "profiler/text/fitness_words.h"
#include "profiler/text/mode_words.h"
#include "profiler/text/tail_lines.h"
#include "profiler/text/terminal.h"
#include "profiler/text/time_scale.h"
#include "profiler/text/verdict_words.h"

namespace icepath::pages {
namespace {

constexpr size_t kTextColumns = 110;

std::string section(const std::string &id, const std::string &heading, const std::string &content)
{
	return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, heading, content);
}

std::string folded_away(const std::string &summary, const std::string &content)
{
	return fmt::format("<details><summary>{}</summary>{}</details>\n", summary, content);
}

std::string legend_of_kinds(const analysis::RunResult &result)
{
	std::array<double, analysis::kLayerKinds> sums{};
	for (const analysis::CellResult &cell : result.cells) {
		const auto kinds = analysis::by_kind(cell.paths.layers.rows(), cell.is_of_library());
		std::ranges::transform(kinds, sums, sums.begin(), std::plus());
	}
	std::string items;
	for (size_t i = 0; i < analysis::kLayerKinds; ++i)
		if (sums[i] > 0)
			items += fmt::format("<button type=\"button\" data-kind=\"{0}\"><svg width=\"12\" height=\"12\"><rect "
								 "class=\"kind-{0}\" width=\"12\" height=\"12\"/></svg> {1}</button>",
								 i, analysis::kKindStyles[i].word);
	return "<p class=\"legend\">" + items + "</p>\n";
}

std::string verdict_section(const analysis::RunResult &result)
{
	const std::string why = text::unfinished_text(result), says = text::verdict_text(result);
	return (why.empty() ? "" : "<p class=\"flaw\">" + escaped(why) + "</p>\n") +
		   (says.empty() ? "" : "<p id=\"verdict\">" + escaped(says) + "</p>\n");
}

// Empty if it is fit.
std::string unfit_text(const analysis::RunResult &result)
{
	const auto unfit = explain::unfit_for_tails(result);
	return unfit ? fmt::format("This run isn't fit for tails ({}): partly they are the machine's.",
							   text::found_text(*unfit))
				 : "";
}

// Nothing for a run without arms.
std::string arm_section(const model::Head &head)
{
	std::string items;
	for (const std::string &arm : text::arm_texts(head.arms))
		items += "<li>" + escaped(arm) + "</li>\n";
	return items.empty() ? ""
						 : section("arms", "Builds and configurations beside each other", "<ul>" + items + "</ul>\n");
}

bool is_of_several_modes(const analysis::CellResult &cell) { return !cell.modes.all.empty(); }

std::string picture_section(const analysis::RunResult &result, const analysis::GroupedCells &cells)
{
	std::string reading =
		"Left: a typical message, the mean over those from p40 to p60. Right: a slow one, the mean over the "
		"slowest 1 %, on a different axis. Both with probes. Lines: p50 and p99 without probes, with their 95 % "
		"intervals; an arrow if they are beyond the axis. A bar with a gap is longer than its axis: its colours "
		"are in proportion. ";
	if (std::ranges::any_of(result.cells, is_of_several_modes))
		reading +=
			"Where messages have several modes, none is typical: each mode has a bar, the mean over its messages "
			"with probes, and its share of messages without them. *: p50 of all modes; –: another run may have it "
			"in another mode. ";
	if (std::ranges::any_of(result.cells,
							[](const analysis::CellResult &cell) { return cell.modes.changed_by_probes(); }))
		reading += "†: probes change these shares, so slow messages without probes are others. ";
	if (has_doubtful_bar(result))
		reading += fmt::format("?: {}. ", text::kDoubtReading);
	reading += escaped(unfit_text(result));
	return section("picture", "Where the time of a message goes",
				   legend_of_kinds(result) + "<div class=\"wide\">" + first_picture(result, cells) +
					   "</div>\n<p class=\"reading\">" + reading + "</p>\n");
}

std::string curve_section(const analysis::GroupedCells &cells)
{
	std::string options;
	for (size_t i = 0; i < cells.groups.size(); ++i)
		options += fmt::format("<option value=\"{}\">{}</option>", i, escaped(cells.groups[i].heading));
	return section("curves", "Percentiles",
				   "<p class=\"search\"><label>cells <select id=\"group\">" + options +
					   "</select></label></p>\n<svg id=\"percentiles\" role=\"img\" aria-label=\"percentiles of the "
					   "cells\"></svg>\n"
					   "<noscript>The curves need JavaScript; the table has their values.</noscript>\n<p "
					   "class=\"reading\">One-way latency "
					   "without probes, with 95 % intervals, as far as there are enough messages.</p>\n");
}

std::string data_cell(const std::string &text) { return "<td>" + escaped(text) + "</td>"; }

std::string rank_range(const std::optional<stats::Rank> &rank)
{
	if (!rank)
		return "–";
	return rank->first == rank->last ? fmt::format("{}", rank->first) : fmt::format("{}–{}", rank->first, rank->last);
}

struct Ranked {
	const analysis::RankedCell *cell = nullptr; // none: it isn't ranked
	bool first = false; // of those that it is ranked among
};

Ranked ranked(const analysis::RunResult &result, size_t index)
{
	for (const analysis::RankedGroup &group : result.ranking)
		for (const analysis::RankedCell &cell : group.cells)
			if (cell.cell == index && group.cells.size() > 1)
				return {&cell, &cell == &group.cells.front()};
	return {};
}

// With its interval, as the rank rests on it.
std::string ratio_with_interval(const Ranked &of)
{
	if (!of.cell || !of.cell->to_fastest)
		return of.first ? "1" : "–";
	const stats::RoundRatio &ratio = *of.cell->to_fastest;
	return fmt::format("{:.2f} [{:.2f}, {:.2f}]", ratio.ratio, ratio.interval.low, ratio.interval.high);
}

std::string tail_cell(const analysis::CellResult &cell, size_t percentile, bool is_doubtful)
{
	return fmt::format("<td{}>{}</td>", is_doubtful ? " class=\"doubtful\"" : "",
					   escaped(stats::percentile_text(cell.times.latency, percentile)));
}

std::string cell_row(const analysis::RunResult &result, const std::string &label, size_t index, bool is_doubtful)
{
	const analysis::CellResult &one = result.cells[index];
	const auto &cpu = one.used.cpu_per_message;
	const Ranked of = ranked(result, index);
	return fmt::format("<tr data-cell=\"{}\" tabindex=\"0\"><th scope=\"row\">{}</th>", index, escaped(label)) +
		   data_cell(of.cell ? rank_range(of.cell->rank) : "–") + data_cell(ratio_with_interval(of)) +
		   data_cell(text::whole_p50_text(one)) + tail_cell(one, 2, is_doubtful) + tail_cell(one, 3, is_doubtful) +
		   data_cell(stats::percentile_text(one.times.round_trip, 0)) +
		   data_cell(cpu ? stats::microseconds((*cpu)[0].total_ns() + (*cpu)[1].total_ns()) : "–") +
		   data_cell(stats::count(one.times.latency.count)) + data_cell(stats::count(one.messages.lost)) +
		   data_cell(stats::effect_text(one.observer_effect.p50)) + "</tr>\n";
}

std::string cell_section(const analysis::RunResult &result, const analysis::GroupedCells &cells)
{
	const std::string unfit = unfit_text(result);
	std::string rows;
	for (const analysis::CellGroup &group : cells.groups) {
		rows += fmt::format("<tr class=\"group\"><th colspan=\"11\">{}</th></tr>\n", escaped(group.heading));
		for (const size_t index : group.cells)
			rows += cell_row(result, cells.labels[index], index, !unfit.empty());
	}
	return section(
		"cells", "Cells",
		"<div class=\"wide\"><table><thead><tr><th>target</th><th>rank</th><th>× fastest</th><th>p50</th>" +
			std::string(unfit.empty() ? "<th>p99</th><th>p99.9</th>" : "<th>(p99)</th><th>(p99.9)</th>") +
			"<th>round trip</th><th>CPU</th><th>messages</th><th>lost</th><th>probes</th></tr></thead><tbody>\n" +
			rows +
			"</tbody></table></div>\n<p class=\"reading\">One-way latency in µs, ± half of its 95 % interval. "
			"Rank, × fastest [95 % interval]: by ratios within rounds, of all messages but each block's fastest and "
			"slowest tenth; 2–3: this run doesn't tell which of these places. *: p50 of several modes; –: another run "
			"may have it in another mode; the picture has each. CPU: µs of both sides per message. Probes: what they "
			"added to the p50. " +
			escaped(unfit) + "</p>\n");
}

// "79 % of the extra time is waiting for a CPU; 91 % of all the extra time has a named cause, the largest kworker/1:2"
std::string in_short(const explain::TailExplanation &tail)
{
	const explain::Difference &growth = tail.growth;
	if (growth.kinds.empty() || growth.of.ns() <= 0)
		return "";
	const explain::KindDifference &most = growth.kinds.front();
	const std::string most_share =
		growth.has_shares() ? fmt::format("{:.0f} %", 100 * growth.share(most.of)) : std::string("most");
	std::string text = fmt::format(": {} of the extra time is {}", most_share, analysis::style_of(most.kind).word);
	if (const auto told = std::ranges::find_if(tail.causes, &explain::Cause::counts); told != tail.causes.end())
		text += fmt::format("; {} of all the extra time has a named cause, the largest {}", stats::percent(tail.named),
							tail.own_code * static_cast<double>(tail.growth.of.ns()) > told->growth_ns
								? "the message's own code"
							: told->is_told() ? told->name
											  : std::string(text::words_of_many(told->origin)));
	return text;
}

std::string tail_section(const analysis::RunResult &result)
{
	std::string content, too_few;
	for (size_t i = 0; i < result.cells.size(); ++i) {
		const analysis::CellResult &one = result.cells[i];
		const std::string title = model::title(one.cell);
		const explain::TailExplanation tail = explain::explain_tail(one, result.head);
		if (tail.verdict == explain::TailVerdict::TooFew) {
			if (one.paths.deliveries > 0)
				too_few += (too_few.empty() ? "" : ", ") + title;
			continue;
		}
		text::Page text({false, true}, kTextColumns);
		text::add_tail(text, result, i, tail);
		content += fmt::format("<div data-cell=\"{}\">{}</div>", i,
							   folded_away(escaped(fmt::format("{}, {} and more", title,
															   stats::duration(static_cast<double>(tail.from_ns))) +
												   in_short(tail)),
										   "<pre>" + escaped(text.take()) + "</pre>"));
	}
	if (!too_few.empty())
		content +=
			"<p class=\"reading\">Too few slow messages with a known path to tell: " + escaped(too_few) + ".</p>\n";
	if (content.empty())
		return "";
	return section("tails", "Why slow messages are slow",
				   "<p class=\"reading\">What grows from typical messages to the slowest 1 %, with probes.</p>\n" +
					   content);
}

std::string over_time_section()
{
	return section(
		"over-time", "Over the time of the run",
		"<div class=\"wide over\"><svg id=\"heat\" tabindex=\"0\" role=\"application\" aria-label=\"latencies over the "
		"time of the run: arrow keys choose a range\"></svg></div>\n<table id=\"range\" "
		"hidden><caption></caption><thead>"
		"<tr><th>target</th><th>p50 there</th><th>p50 elsewhere</th><th>p99 there</th><th>p99 "
		"elsewhere</th></tr></thead>"
		"<tbody></tbody></table>\n<noscript>The strips need JavaScript.</noscript>\n<p class=\"reading\">Of the cells "
		"chosen above: one-way latency without probes, on a logarithmic axis; the darker, the more of the messages at "
		"that "
		"time. Levels that come and go are states of the machine or of the processes. Drag, or use the arrow keys with "
		"and "
		"without Shift, to compare a range of time with the rest.</p>\n");
}

std::string slowest_section(const analysis::RunResult &result)
{
	std::string options;
	for (size_t i = 0; i < result.cells.size(); ++i)
		if (!result.cells[i].followed.slowest.empty())
			options += fmt::format("<option value=\"{}\">{}</option>", i, escaped(model::title(result.cells[i].cell)));
	return section(
		"slowest", "The slowest messages",
		"<p class=\"search\"><label>cell <select id=\"slowest-of\">" + options +
			"</select></label></p>\n<div class=\"wide over\"><svg id=\"timelines\" role=\"img\" "
			"aria-label=\"the slowest messages by thread\"></svg></div>\n<noscript>The timelines need "
			"JavaScript.</noscript>\n<p class=\"reading\">From send to recv, with probes: the five slowest with a "
			"known path, each on an axis of its own. Hatched: an end is inferred. <code>icepath explain RUN "
			"--message</code> prints one of them.</p>\n");
}

std::string flame_section()
{
	return section(
		"flame", "The layers in full",
		"<div class=\"search\"><label>messages <select id=\"messages\"><option value=\"all\">all</option><option "
		"value=\"typical\">typical</option>"
		"<option value=\"tail\">slowest 1 %</option></select></label> <input id=\"search\" type=\"search\" "
		"placeholder=\"search\" aria-label=\"search frames\"> <span id=\"found\"></span> <button type=\"button\" "
		"id=\"reset\">reset</button></div>\n<p id=\"told\" role=\"status\">&nbsp;</p>\n<svg id=\"graph\" "
		"tabindex=\"0\" font-family=\"monospace\" font-size=\"12\" role=\"application\" aria-label=\"flame graph: "
		"arrows and Enter\"><g></g></svg>\n<noscript>The flame graph needs scripts.</noscript>\n"
		"<p class=\"reading\">Width: µs that a message of a cell takes, on average of those with a complete "
		"path. Latency, not CPU time. Click: zoom.</p>\n");
}

std::string notes_section(const analysis::RunResult &result)
{
	std::string items;
	const std::vector<std::string> all = text::notice_sentences(result);
	for (const std::string &notice : all)
		items += "<li>" + escaped(notice) + "</li>\n";
	std::string content;
	if (!all.empty())
		content += folded_away(fmt::format("{} notices", all.size()), "<ul>" + items + "</ul>");
	content += folded_away(
		"the machine, what was done to keep it quiet, and all figures as text",
		"<pre>" +
			escaped(text::terminal_report(
				result, {.colour = false, .unicode = true, .width = static_cast<int>(kTextColumns), .verbose = true})) +
			"</pre>");
	return section("notes", "Caveats", content);
}

} // namespace

std::string html_report(const analysis::RunResult &result)
{
	const analysis::GroupedCells cells = analysis::grouped_cells(result);
	const model::Head &head = result.head;
	return fmt::format(
			   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
			   "script-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n"
			   "<title>icepath: {}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n<header><h1>Where my messages' "
			   "latency goes</h1>\n<p class=\"machine\">{} · {} · icepath {}</p></header>\n",
			   escaped(head.command_line), kind_rules(), kPageStyle, escaped(head.command_line),
			   escaped(head.started_utc), escaped(head.icepath_version)) +
		   "<main>\n" + verdict_section(result) + arm_section(head) + picture_section(result, cells) +
		   curve_section(cells) + over_time_section() + cell_section(result, cells) + tail_section(result) +
		   slowest_section(result) + flame_section() + notes_section(result) +
		   fmt::format(
			   "</main>\n<footer><p>Times are from one run on one machine. icepath is under the Apache License 2.0; "
			   "the script of this page includes parts of d3, under the licence that it begins with.</p></footer>\n"
			   "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
			   script_json(page_data(result, cells)), kPageScript);
}

} // namespace icepath::pages
