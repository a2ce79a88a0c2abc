// SPDX-License-Identifier: Apache-2.0
// What `icepath compare --markdown` prints, for a comment on a change.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/model/cell_title.h"
#include "profiler/text/compare_lines.h"
#include "profiler/text/compare_words.h"
#include "profiler/text/markdown.h"

namespace icepath::text {
namespace {

using compare::ComparedCell, compare::Comparison, compare::Judged;

constexpr const char *kMore = "icepath compare";

std::string bold_if_told(const Judged &judged, const std::string &words)
{
	return judged.is_told() ? "**" + markdown(words) + "**" : markdown(words);
}

std::string row_of(const Comparison &comparison, const std::string &title, const Judged &judged)
{
	return fmt::format("| {} | {} | {} | {} | {} | {} |\n", title, figure_words(judged.figure),
					   value_words(judged.figure, judged.a), value_words(judged.figure, judged.b),
					   change_words(judged.figure, judged.change, judged.interval),
					   bold_if_told(judged, verdict_words(comparison, judged)));
}

// `beside`: the kinds of time of the cell, and its conditions.
void add_notes(const analysis::RunResult &run, const ComparedCell &cell, const std::string &title,
			   MarkdownLines &beside)
{
	if (const std::string carried = carried_words(run, cell); !carried.empty())
		beside.add(fmt::format("- {}: {}\n", title, markdown(carried)));
	for (const compare::Condition &condition : cell.conditions)
		beside.add(fmt::format("- {}: {} ({})\n", title, markdown(condition_words(condition)), keeps_words(condition)));
}

} // namespace

void add_comparison_markdown(const analysis::RunResult &run, const Comparison &comparison, size_t most,
							 std::string &page)
{
	page += fmt::format("### {}\n\n{}\n", markdown(comparison_heading(comparison)), markdown(method_words(comparison)));
	for (const std::string &notice : notice_words(comparison))
		page += "\n**" + markdown(notice) + "**\n";
	// Most of the room is for verdicts.
	MarkdownLines conditions(page, "\n", kMore, page.size() + (most - std::min(most, page.size())) / 8);
	for (const compare::Condition &condition : comparison.conditions)
		conditions.add(fmt::format("- {} ({})\n", markdown(condition_words(condition)), keeps_words(condition)));
	conditions.end();
	MarkdownLines rows(
		page,
		fmt::format("\n| cell | figure | {} | {} | difference | verdict |\n|---|---|---:|---:|---|---|\n",
					markdown(comparison.a), markdown(comparison.b)),
		kMore, page.size() + (most - std::min(most, page.size())) * 3 / 4);
	for (const ComparedCell &cell : comparison.cells)
		for (const Judged &judged : cell.figures)
			if (has_row(judged))
				rows.add(row_of(comparison, markdown(model::title(cell.key)), judged));
	rows.end();
	const std::string last = comparison.is_of_one_run
								 ? ""
								 : fmt::format("\n{}: {}\n", markdown(one_session_words(comparison)),
											   markdown_code(one_session_command(comparison)));
	MarkdownLines notes(page, "\n", kMore, most - std::min(most, last.size()));
	for (const ComparedCell &cell : comparison.cells)
		add_notes(run, cell, markdown(model::title(cell.key)), notes);
	notes.end();
	if (page.size() + last.size() <= most)
		page += last;
}

} // namespace icepath::text
