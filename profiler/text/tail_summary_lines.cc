// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/tail_summary_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profiler/analysis/named_cells.h"
#include "profiler/explain/tail_summary.h"
#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/cause_words.h"
#include "profiler/text/finding_words.h"
#include "profiler/text/remedy_words.h"
#include "profiler/text/table.h"

namespace icepath::text {
namespace {

using explain::TailVerdict;

std::string cells_words(size_t cells) { return fmt::format("{} cell{}", cells, cells == 1 ? "" : "s"); }

// "20.0 to 91.0 %"
std::string range_of(double low, double high)
{
	const auto text = [](double share) { return fmt::format("{:.0f}", 100 * share); };
	return text(low) == text(high) ? text(low) + " %" : fmt::format("{} to {} %", text(low), text(high));
}

std::string name_of(const explain::CauseOfTails &cause)
{
	if (cause.is_own_code)
		return "code of the cells themselves, in user mode";
	if (!cause.origin)
		return "without a named cause";
	if (cause.name.empty())
		return fmt::format("{}, not told which", words_of_many(*cause.origin));
	const std::string words(word(*cause.origin));
	return cause.name == words ? words : fmt::format("{} ({})", cause.name, words);
}

void add_verdicts(Page &page, const explain::TailSummary &summary, const std::string &from, size_t cells)
{
	std::vector<std::string> parts;
	for (const auto verdict : {TailVerdict::Explained, TailVerdict::ByKind, TailVerdict::Partly,
							   TailVerdict::Unexplained, TailVerdict::NotTold, TailVerdict::TooFew})
		if (const size_t of = summary.verdicts.at(static_cast<size_t>(verdict)); of > 0)
			parts.push_back(fmt::format("{} {}", of, explain::kTailVerdicts.at(static_cast<size_t>(verdict))));
	page.heading(fmt::format("the tails, from {} on, of {}: {}", from, cells_words(cells), fmt::join(parts, ", ")));
}

void add_causes_of_tails(Page &page, const analysis::RunResult &result, const explain::TailSummary &summary)
{
	constexpr size_t kShown = 10;
	if (summary.causes.empty())
		return;
	const size_t shown = std::min(kShown, summary.causes.size());
	Table table({{}, {Side::Right}, {Side::Right, 13}, {}});
	table.add({"what takes a tenth or more", "cells", "of growth", "most in"});
	for (size_t i = 0; i < shown; ++i) {
		const explain::CauseOfTails &cause = summary.causes[i];
		table.add({name_of(cause), std::to_string(cause.cells.size()),
				   range_of(cause.shares.back(), cause.shares.front()),
				   model::title(result.cells[cause.cells.front()].cell)});
	}
	page.line();
	table.add_to(page);
	if (summary.causes.size() > shown)
		page.line(page.spelled(fmt::format("  and {} more", summary.causes.size() - shown)));
	page.line();
}

void add_unlike(Page &page, const analysis::RunResult &result, const explain::TailSummary &summary)
{
	constexpr size_t kShown = 4;
	std::vector<std::string> parts;
	for (size_t i = 0; i < std::min(kShown, summary.unlike.size()); ++i)
		parts.push_back(fmt::format("{} {:.3g} times", model::title(result.cells[summary.unlike[i].first].cell),
									summary.unlike[i].second));
	if (summary.unlike.size() > kShown)
		parts.push_back(fmt::format("{} more", summary.unlike.size() - kShown));
	if (!parts.empty())
		page.paragraph("unlike", fmt::format("a message of the tail takes {:.3g} times as long as a typical one in the "
											 "median cell; in {}",
											 summary.median_times.value(), fmt::join(parts, ", ")));
}

// The first reason of each kind, with how many cells have it.
void add_refusals(Page &page, const analysis::RunResult &result, const std::vector<size_t> &cells,
				  const std::vector<explain::TailExplanation> &tails)
{
	std::vector<std::pair<size_t, size_t>> kinds; // the first tail of each, and how many there are
	for (size_t i = 0; i < tails.size(); ++i) {
		if (!tails[i].refusal)
			continue;
		const auto same = std::ranges::find_if(
			kinds, [&](const auto &kind) { return tails[kind.first].refusal->id == tails[i].refusal->id; });
		if (same == kinds.end())
			kinds.emplace_back(i, 1);
		else
			++same->second;
	}
	for (const auto &[first, count] : kinds)
		page.paragraph(&kinds.front().first == &first ? "untold" : "",
					   fmt::format("{}: {}{}", model::title(result.cells[cells[first]].cell),
								   words(result, *tails[first].refusal),
								   count > 1 ? fmt::format("; {} more likewise", count - 1) : ""));
}

} // namespace

void add_tail_summary(Page &page, const analysis::RunResult &result, const std::vector<size_t> &cells,
					  const std::vector<explain::TailExplanation> &tails)
{
	constexpr size_t kRemedies = 5;
	const explain::TailSummary summary = explain::summary_of(cells, tails);
	add_verdicts(page, summary, stats::percentile_name(result.tail_from), cells.size());
	add_causes_of_tails(page, result, summary);
	add_unlike(page, result, summary);
	add_refusals(page, result, cells, tails);
	for (size_t i = 0; i < std::min(kRemedies, summary.remedies.size()); ++i) {
		const explain::RemedyOfTails &of = summary.remedies[i];
		page.paragraph(i == 0 ? "next" : "", fmt::format("{}, {} of the growth: {}", cells_words(of.cells),
														 range_of(std::min(of.least_share, 1.0), of.largest_share),
														 advice(of.remedy, result.cells[of.cell].cell)));
	}
	if (summary.remedies.size() > kRemedies)
		page.paragraph("", fmt::format("and {} more", summary.remedies.size() - kRemedies));
	page.paragraph("tables", "icepath explain RUN --cell TEXT · of all cells: icepath explain -v RUN");
	page.paragraph("messages", "icepath explain RUN --cell TEXT --worst");
}

} // namespace icepath::text
