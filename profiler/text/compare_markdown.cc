// SPDX-License-Identifier: Apache-2.0
// What `icepath compare --markdown` prints, for a comment on a change.
#include <fmt/format.h>

#include "profiler/model/cell_title.h"
#include "profiler/text/compare_lines.h"
#include "profiler/text/compare_words.h"

namespace icepath::text {
namespace {

using compare::ComparedCell, compare::Comparison, compare::Judged;

// Names come from plug-ins and users: what Markdown or HTML could take for its own is escaped.
std::string escaped(const std::string &text)
{
	constexpr std::string_view kOwn = "\\`*_{}[]()<>#|!~&@";
	std::string out;
	for (const char character : text) {
		if (kOwn.find(character) != kOwn.npos)
			out += '\\';
		out += character;
	}
	return out;
}

std::string bold_if_told(const Judged &judged, const std::string &words)
{
	return judged.is_told() ? "**" + escaped(words) + "**" : escaped(words);
}

void list_conditions(const std::vector<compare::Condition> &conditions, std::string &text)
{
	for (const compare::Condition &condition : conditions)
		text += fmt::format("- {} ({})\n", escaped(condition_words(condition)), keeps_words(condition.keeps));
}

} // namespace

std::string comparison_markdown(const analysis::RunResult &run, const Comparison &comparison)
{
	std::string text =
		fmt::format("### {}\n\n{}\n\n", escaped(comparison_heading(comparison)), escaped(method_words(comparison)));
	list_conditions(comparison.conditions, text);
	std::string below;
	text += fmt::format("{}| cell | figure | {} | {} | difference | verdict |\n|---|---|---:|---:|---|---|\n",
						comparison.conditions.empty() ? "" : "\n", escaped(comparison.a), escaped(comparison.b));
	for (const ComparedCell &cell : comparison.cells) {
		const std::string title = escaped(model::title(cell.key));
		for (const Judged &judged : cell.figures)
			if (has_row(judged))
				text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", title, figure_words(judged.figure),
									value_words(judged.figure, judged.a), value_words(judged.figure, judged.b),
									change_words(judged.figure, judged.change, judged.interval),
									bold_if_told(judged, verdict_words(comparison, judged)));
		if (const std::string carried = carried_words(run, cell); !carried.empty())
			below += fmt::format("- {}: {}\n", title, escaped(carried));
		for (const compare::Condition &condition : cell.conditions)
			below += fmt::format("- {}: {} ({})\n", title, escaped(condition_words(condition)),
								 keeps_words(condition.keeps));
	}
	if (!below.empty())
		text += "\n" + below;
	if (const std::string more = one_session_words(comparison); !more.empty())
		text += fmt::format("\n{}: `{}`\n", escaped(more), one_session_command(comparison));
	return text;
}

} // namespace icepath::text
