// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/compare_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/analysis/named_cells.h"
#include "profiler/model/cell_title.h"
#include "profiler/text/compare_words.h"
#include "profiler/text/table.h"

namespace icepath::text {
namespace {

using compare::ComparedCell, compare::Comparison, compare::Judged;

void add_conditions(Page &page, const std::vector<compare::Condition> &conditions)
{
	for (const compare::Condition &condition : conditions)
		page.paragraph("condition", fmt::format("{} ({})", condition_words(condition), keeps_words(condition)));
}

// The command isn't wrapped, so that it can be pasted.
void add_carried(Page &page, const analysis::RunResult &run, const ComparedCell &cell, const std::string &path)
{
	if (!cell.against)
		return;
	page.paragraph("  where", carried_words(run, cell));
	if (cell.against->difference)
		page.line(
			page.spelled(fmt::format("  next    icepath explain {} --cell {} --against {}", analysis::shell_word(path),
									 analysis::shell_word(model::title(run.cells[cell.against->slower].cell)),
									 analysis::shell_word(model::title(run.cells[cell.against->faster].cell)))));
}

// One verdict for a cell of which nothing was compared.
bool is_missing(const ComparedCell &cell) { return !cell.a || !cell.b; }

void add_figures(Page &page, const Comparison &comparison, const ComparedCell &cell)
{
	const bool has_control = !comparison.control.empty();
	Table table({{Side::Left}, {Side::Right}, {Side::Right}, {Side::Left}, {Side::Left}, {Side::Left}});
	const std::string control = has_control ? comparison.control : "";
	table.add({"", comparison.a, comparison.b, "difference", control, "verdict"});
	for (const Judged &judged : cell.figures)
		if (has_row(judged))
			table.add({figure_words(judged.figure), value_words(judged.figure, judged.a),
					   value_words(judged.figure, judged.b),
					   change_words(judged.figure, judged.change, judged.interval),
					   has_control ? change_words(judged.figure, judged.control, judged.control_interval) : "",
					   verdict_words(comparison, judged)});
	table.add_to(page);
}

} // namespace

void add_comparison(Page &page, const analysis::RunResult &run, const Comparison &comparison, const std::string &path)
{
	page.heading(comparison_heading(comparison));
	page.paragraph("", method_words(comparison), 2);
	for (const std::string &notice : notice_words(comparison))
		page.paragraph("notice", notice);
	add_conditions(page, comparison.conditions);
	for (const ComparedCell &cell : comparison.cells) {
		page.line();
		page.heading(model::title(cell.key));
		add_conditions(page, cell.conditions);
		if (is_missing(cell)) {
			page.paragraph("", verdict_words(comparison, cell.figures[0]), 2);
			continue;
		}
		if (cell.anchor_a)
			page.paragraph("anchor", model::title(run.cells[*cell.anchor_a].cell));
		add_figures(page, comparison, cell);
		add_carried(page, run, cell, path);
	}
	if (const std::string more = one_session_words(comparison); !more.empty()) {
		page.line();
		page.paragraph("next", more);
		page.line(page.spelled("          " + one_session_command(comparison)));
	}
}

} // namespace icepath::text
