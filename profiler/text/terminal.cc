// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/terminal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "profiler/analysis/breakdown.h"
#include "profiler/analysis/line_levels.h"
#include "profiler/explain/culprit_sums.h"
#include "profiler/explain/one_message.h"
#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/arm_lines.h"
#include "profiler/text/cause_words.h"
#include "profiler/text/cell_lines.h"
#include "profiler/text/cell_table.h"
#include "profiler/text/columns.h"
#include "profiler/text/environment.h"
#include "profiler/text/finding_words.h"
#include "profiler/text/message_lines.h"
#include "profiler/text/mode_lines.h"
#include "profiler/text/noise_lines.h"
#include "profiler/text/page.h"
#include "profiler/text/socket_lines.h"
#include "profiler/text/table.h"
#include "profiler/text/trust_lines.h"
#include "profiler/text/verdict_words.h"

namespace icepath::text {
namespace {

void add_partial(Page &page, const analysis::RunResult &result)
{
	if (const std::string why = unfinished_text(result); !why.empty())
		page.heading("partial: " + why);
}

// In at most three lines: who, where, on which CPUs.
void add_brief_head(Page &page, const analysis::RunResult &result)
{
	const model::Head &head = result.head;
	page.heading(fitting({"icepath " + head.icepath_version, head.started_utc, head.command_line}, page.width()));
	add_machine(page, head, true);
	add_arms(page, head);
	add_partial(page, result);
	page.line();
}

void add_head(Page &page, const analysis::RunResult &result)
{
	const model::Head &head = result.head;
	page.heading(fmt::format("icepath {} · {} · {}", head.icepath_version, head.started_utc, head.command_line));
	add_machine(page, head, false);
	add_isolation(page, head);
	std::set<std::string> libraries;
	for (const analysis::CellResult &cell : result.cells)
		if (!cell.cell.library.empty())
			libraries.insert(cell.cell.library);
	if (!libraries.empty())
		page.paragraph("", fmt::format("{}", fmt::join(libraries, " · ")), 0);
	add_arms(page, head);
	add_partial(page, result);
	page.line();
}

// The target, with its arms that have this summary if others have another one.
std::string told_by(const model::Cell &cell, const std::vector<analysis::CellResult> &cells)
{
	std::vector<std::string> arms;
	bool differ = false;
	for (const analysis::CellResult &one : cells) {
		if (one.cell.target != cell.target)
			continue;
		if (one.cell.summary != cell.summary)
			differ = true;
		else if (std::ranges::find(arms, one.cell.arm) == arms.end())
			arms.push_back(one.cell.arm);
	}
	return cell.target + (differ ? fmt::format(" {}", fmt::join(arms, ", ")) : "");
}

// What is measured, and how its library is set up: once for each target, and for each of its arms that differ.
void add_targets(Page &page, const std::vector<analysis::CellResult> &cells)
{
	std::set<std::pair<std::string, std::string>> told;
	for (const analysis::CellResult &cell : cells)
		if (!cell.cell.summary.empty() && told.emplace(cell.cell.target, cell.cell.summary).second)
			page.paragraph(told.size() == 1 ? "targets" : "",
						   fmt::format("{}: {}", told_by(cell.cell, cells), cell.cell.summary));
	if (!told.empty())
		page.line();
}

void add_verdict(Page &page, const analysis::RunResult &result)
{
	const std::string verdict = verdict_text(result);
	if (verdict.empty())
		return;
	page.paragraph("", verdict, 2);
	page.line();
}

void add_paragraphs(Page &page, const std::string &label, const std::vector<std::string> &sentences)
{
	for (size_t i = 0; i < sentences.size(); ++i)
		page.paragraph(i == 0 ? label : "", sentences[i]);
}

void add_notices(Page &page, const analysis::RunResult &result)
{
	const std::vector<std::string> sentences = notice_sentences(result);
	add_paragraphs(page, "notice", sentences);
	if (!sentences.empty())
		page.line();
}

void add_hops(Page &page, const std::vector<analysis::CellResult> &cells)
{
	bool any = false;
	for (const analysis::CellResult &cell : cells) {
		std::string way;
		for (const analysis::Hop &hop : analysis::hops(cell.paths.layers))
			way += fmt::format("{}{} {}", way.empty() ? "" : " → ",
							   hop.role == path::Role::Relay
								   ? hop.threads
								   : std::string(path::kRoleNames[static_cast<size_t>(hop.role)]),
							   stats::microseconds(hop.mean_ns));
		if (way.empty() || !cell.paths.tells_where())
			continue;
		if (!any)
			page.heading("path by threads: mean µs at each and on the way to it, with probes");
		any = true;
		page.paragraph("", fmt::format("{}: {}", model::title(cell.cell), way), 2);
	}
	if (any)
		page.line();
}

void add_system_calls(Page &page, const analysis::RunResult &result)
{
	constexpr size_t kShown = 8;
	constexpr double kRare = 0.01; // calls per message
	bool any = false;
	for (const analysis::CellResult &cell : result.cells) {
		const std::vector<analysis::CallRow> rows = cell.system_calls.of_all_threads();
		std::string text;
		for (size_t i = 0; i < std::min(rows.size(), kShown) && rows[i].per_message >= kRare; ++i)
			text += fmt::format("{}{} {}", i > 0 ? " · " : "", rows[i].call,
								rows[i].per_message < 99.5 ? fmt::format("{:.2g}", rows[i].per_message)
														   : stats::amount(rows[i].per_message));
		if (text.empty())
			continue;
		if (!any)
			page.heading("system calls per message, of all threads of both sides and of their daemon, with probes");
		any = true;
		page.paragraph("", fmt::format("{}: {}", model::title(cell.cell), text), 2);
	}
	if (any)
		page.line();
}

// What the libraries granted of what was asked for, and chose otherwise; cells with equal values together.
void add_granted(Page &page, const std::vector<analysis::CellResult> &cells)
{
	std::map<std::string, std::vector<std::string>> by_text;
	for (const analysis::CellResult &cell : cells) {
		if (!cell.cell.granted.any())
			continue;
		const std::string asked = model::text(cell.cell.qos);
		const std::string who = target_of(cell.cell) + (asked.empty() ? "" : " " + asked);
		auto &names = by_text[model::text(cell.cell.granted)];
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

void add_worst(Page &page, const analysis::RunResult &result)
{
	const analysis::WorstMessage *worst = explain::worst_message(result);
	if (!worst)
		return;
	const std::vector<std::string> lines = worst_message_lines(*worst, result.cells[worst->cell].cell, page.look());
	page.heading(lines[0]);
	for (size_t i = 1; i < lines.size(); ++i)
		page.line(page.spelled(lines[i]));
	if (const auto slower = explain::slower_than(*worst, result))
		page.line(page.spelled(
			fmt::format("  the slowest message of all took {}{}: {}", stats::duration(static_cast<double>(slower->ns)),
						slower->cell == worst->cell ? "" : ", of " + model::title(result.cells[slower->cell].cell),
						why_no_path(*slower))));
	page.line();
}

// A last row has the rest, so that the rows add up to the heading.
std::vector<explain::CulpritSum> longest_culprits(const std::vector<analysis::CellResult> &cells)
{
	constexpr size_t kShown = 5;
	std::vector<explain::CulpritSum> sums = explain::culprit_sums(cells);
	if (sums.size() > kShown + 1) {
		explain::CulpritSum rest{fmt::format("{} others", sums.size() - kShown), path::Culprit::Kind::None};
		for (size_t i = kShown; i < sums.size(); ++i) {
			rest.ns += sums[i].ns;
			rest.segments += sums[i].segments;
		}
		sums.resize(kShown);
		sums.push_back(rest);
	}
	return sums;
}

std::string layer_of(const explain::CulpritSum &sum) { return sum.layer ? std::string(model::name(*sum.layer)) : ""; }

void add_culprits(Page &page, const std::vector<analysis::CellResult> &cells)
{
	const std::vector<explain::CulpritSum> sums = longest_culprits(cells);
	if (sums.empty())
		return;
	analysis::Culprits::Sums of;
	for (const analysis::CellResult &cell : cells)
		of += cell.paths.culprits.sums();
	const auto text = [](uint64_t ns) { return stats::duration(static_cast<double>(ns)); };
	std::string parts;
	for (const auto &[ns, what] : {std::pair{of.waiting_ns, "waiting for a CPU"},
								   {of.interrupted_ns, "interrupted"},
								   {of.asleep_ns, "asleep until woken"}})
		if (ns > 0)
			parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", text(ns), what);
	page.heading("who took time from messages on their way");
	page.paragraph("", fmt::format("{} in all: {}", text(of.total_ns()), parts), 2);
	Table table({{}, {}, {Side::Right, 8}});
	for (const explain::CulpritSum &sum : sums)
		table.add({words_of(sum), layer_of(sum), text(sum.ns)},
				  fmt::format(", {} {}", stats::count(sum.segments), sum.segments == 1 ? "time" : "times"));
	table.add_to(page);
	page.line();
}

// Lines of a report on one screen: below the table and its legend, of the whole where there are many cells, and those
// that notices have in any case.
constexpr size_t kBelowTheTable = 15, kScreen = 60, kLeastOfNotices = 3;

// As many as fit into so many lines, the last ones: faults come after what the plan left out. The rest is counted.
void add_brief_notices(Page &page, const analysis::RunResult &result, size_t lines)
{
	const std::vector<std::string> all = brief_notices(result);
	if (all.empty())
		return;
	const auto laid_out = [&](size_t shown) {
		std::vector<std::string> some(all.end() - static_cast<std::ptrdiff_t>(shown), all.end());
		if (shown < all.size())
			some.push_back(
				fmt::format("{}{} more: icepath report -v RUN", shown > 0 ? "and " : "", all.size() - shown));
		Page laid(page.look(), page.width());
		add_paragraphs(laid, "notice", some);
		if (shown > 0) // else the screen is full
			laid.line();
		return laid;
	};
	size_t shown = all.size();
	while (shown > 0 && laid_out(shown).lines() > lines)
		--shown;
	page.add(laid_out(shown));
}

// On one screen.
void add_brief_report(Page &page, const analysis::RunResult &result)
{
	add_brief_head(page, result);
	add_verdict(page, result);
	Page last(page.look(), page.width());
	add_slowest(last, result);
	add_taken_by(last, result);
	add_socket_line(last, result);
	add_trust(last, result);
	add_fit_for(last, result, false);
	std::vector<std::string> more = {"icepath report -v RUN", "icepath explain RUN", "icepath flamegraph RUN"};
	if (std::ranges::any_of(result.cells,
							[](const analysis::CellResult &cell) { return cell.functions.samples() > 0; }))
		more.insert(more.begin() + 1, "icepath explain --stacks RUN");
	if (std::ranges::any_of(result.cells, [](const analysis::CellResult &cell) { return !cell.modes.all.empty(); }))
		more.insert(more.begin() + 1, "icepath explain --modes RUN");
	last.line_with_command(pad_right("more", 10), more, "");
	const auto left = [&](size_t of, size_t taken) { return of - std::min(of, taken); };
	const size_t notices = brief_notices(result).empty() ? 0 : kLeastOfNotices;
	add_cell_table(page, result, false, left(kScreen, page.lines() + last.lines() + notices));
	add_brief_notices(page, result,
					  std::max(kLeastOfNotices, std::min(left(kBelowTheTable, last.lines()),
														 left(kScreen, page.lines() + last.lines()))));
	page.add(std::move(last));
}

void add_full_report(Page &page, const analysis::RunResult &result)
{
	add_head(page, result);
	add_targets(page, result.cells);
	add_verdict(page, result);
	add_cell_table(page, result, true);
	add_trust(page, result);
	add_fit_for(page, result, true);
	add_run_state(page, result);
	add_hops(page, result.cells);
	add_cell_lines(page, result.cells);
	add_mode_lines(page, result.cells);
	add_system_calls(page, result);
	add_granted(page, result.cells);
	add_sockets(page, result);
	add_notices(page, result);
	add_counter_table(page, result.cells);
	add_worst(page, result);
	add_culprits(page, result.cells);
	add_noise(page, result.head);
	add_probes(page, result.head);
}

} // namespace

std::string terminal_report(const analysis::RunResult &result, const Style &style)
{
	Page page({style.colour, style.unicode}, static_cast<size_t>(std::clamp(style.width, 40, 1000)));
	if (style.verbose)
		add_full_report(page, result);
	else
		add_brief_report(page, result);
	return page.take();
}

namespace {

std::string times(uint64_t count) { return count == 1 ? "once" : fmt::format("{} times", count); }

void add_openings(Page &page, const analysis::RunResult &result)
{
	uint64_t fewest = UINT64_MAX, most = 0, failed = 0;
	std::vector<std::string> of_blocks;
	for (const analysis::CellResult &cell : result.cells) {
		failed += cell.openings.failed;
		if (cell.openings.count == 0)
			continue;
		fewest = std::min(fewest, cell.openings.count);
		most = std::max(most, cell.openings.count);
		if (!cell.openings.carry_intervals())
			of_blocks.push_back(model::title(cell.cell));
	}
	if (most == 0)
		return;
	std::string text = fewest == most
						   ? fmt::format("each cell was measured in fresh processes {}", times(most))
						   : fmt::format("cells were measured in fresh processes {} to {} times", fewest, most);
	if (failed > 0)
		text += fmt::format(" · {} failed", failed);
	if (most < stats::kMinBlocks)
		text += " · intervals are over blocks of the same processes: another run may differ by more";
	else if (!of_blocks.empty())
		text +=
			fmt::format(" · intervals of {}{} are over blocks of the same processes: another run may differ by more",
						of_blocks[0], of_blocks.size() > 1 ? fmt::format(" and {} more", of_blocks.size() - 1) : "");
	page.paragraph("openings", text);
}

// The p50 of the slowest of the run's CPUs.
std::string slowest(const std::vector<model::CpuWake> &wakes)
{
	const auto wake = std::ranges::max_element(wakes, {}, &model::CpuWake::p50_ns);
	return wake == wakes.end() ? "" : stats::duration(static_cast<double>(wake->p50_ns));
}

void add_machine_state(Page &page, const analysis::RunResult &result)
{
	std::string text;
	if (const std::string begin = slowest(result.head.wakes); !begin.empty()) {
		text = fmt::format("a sleeping thread ran again after {}", begin);
		if (const std::string end = result.tail ? slowest(result.tail->wakes) : ""; !end.empty())
			text += fmt::format(" before the first block and {} after the last", end);
		text += ", on the slower CPU";
		if (const std::string held = slowest(result.head.wakes_held); !held.empty())
			text += fmt::format(", by the machine's own idle states; after {} with CPUs kept awake", held);
	}
	if (result.tail && result.tail->steal && result.tail->steal->of_ns > 0)
		text += fmt::format("{}the hypervisor took {} of the CPUs' time in blocks", text.empty() ? "" : " · ",
							stats::percent(static_cast<double>(result.tail->steal->ns) /
										   static_cast<double>(result.tail->steal->of_ns)));
	for (const model::CacheLine &line : result.tail ? result.tail->cache_lines : std::vector<model::CacheLine>())
		if (const std::vector<analysis::LineLevel> levels = analysis::levels_of(line); levels.size() == 1)
			text += fmt::format("{}a cache line {}", text.empty() ? "" : " · ", analysis::levels_text(line, levels));
	if (!text.empty())
		page.paragraph("machine", text);
	add_quiet(page, result.head);
	add_interference(page, result.interference);
}

} // namespace

void add_run_state(Page &page, const analysis::RunResult &result)
{
	add_openings(page, result);
	add_machine_state(page, result);
	page.line();
}

} // namespace icepath::text
