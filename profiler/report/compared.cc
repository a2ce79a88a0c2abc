// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/compared.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "profiler/analysis/analyse.h"
#include "profiler/analysis/named_cells.h"
#include "profiler/compare/compared_arms.h"
#include "profiler/compare/stored_runs.h"
#include "profiler/exports/compare_json.h"
#include "profiler/failure.h"
#include "profiler/model/cell_key.h"
#include "profiler/text/compare_lines.h"
#include "profiler/text/markdown.h"

namespace icepath::report {
namespace {

using compare::Comparison;

// Of two cells with one key nobody knows which one another run's, or another arm's, is compared with.
void check_keys(const std::string &run, const analysis::RunResult &result)
{
	std::set<std::string> seen;
	for (const analysis::CellResult &cell : result.cells)
		if (const std::string key = model::text(model::key_of(cell.cell)); !seen.insert(key).second)
			throw Failure(ExitCode::Usage, fmt::format("{} has several cells with the key \"{}\", so it isn't known "
													   "which one to compare",
													   run, key));
}

analysis::RunResult result_of(const std::string &run)
{
	analysis::RunResult result = analysis::analyse(run, {.tail = {}, .message = {}, .block_figures = true});
	if (result.head.attached)
		throw Failure(ExitCode::Usage,
					  fmt::format("{} is a run of icepath attach, which has no rounds to compare by", run));
	check_keys(run, result);
	return result;
}

std::vector<std::string> arms_to_compare(const model::Head &head, const CompareWishes &wishes)
{
	const std::vector<std::string> all = compare::arms_of(head, true);
	if (all.empty())
		throw Failure(ExitCode::Usage, fmt::format("{} has no arms: measure some (icepath run --arm), or name a second "
												   "run",
												   wishes.run));
	const std::vector<std::string> named = wishes.arms.empty() ? compare::arms_of(head, false) : wishes.arms;
	for (const std::string &name : named)
		if (std::ranges::find(all, name) == all.end())
			throw Failure(ExitCode::Usage,
						  fmt::format("--arms: {} has no arm \"{}\", but {}", wishes.run, name, fmt::join(all, ", ")));
	if (named.size() < 2 || std::set<std::string>(named.begin(), named.end()).size() < named.size())
		throw Failure(ExitCode::Usage, fmt::format("--arms: name two arms or more of {}, each once: {}", wishes.run,
												   fmt::join(all, ",")));
	return named;
}

void check_repeat(const compare::StoredRun &a, const compare::StoredRun &repeat)
{
	for (const compare::Condition &condition : compare::differing_runs(a.run->head, repeat.run->head))
		if (condition.keeps == compare::Keeps::Verdicts)
			throw Failure(ExitCode::Usage,
						  fmt::format("--repeats: {} isn't of the same machine and settings as {}: {} is \"{}\" there, "
									  "and \"{}\" here",
									  repeat.name, a.name, name_of(condition.id), condition.b, condition.a));
}

// A run beside itself doesn't drift.
void check_is_another(const std::vector<compare::StoredRun> &known, const compare::StoredRun &repeat)
{
	for (const compare::StoredRun &one : known)
		if (one.run->head.started_utc == repeat.run->head.started_utc &&
			one.run->head.command_line == repeat.run->head.command_line)
			throw Failure(ExitCode::Usage,
						  fmt::format("--repeats: {} is the same run as {}: name runs that were measured by themselves",
									  repeat.name, one.name));
}

void check_two_runs(const compare::StoredRun &a, const compare::StoredRun &b, const std::string &anchor)
{
	for (const compare::StoredRun *run : {&a, &b})
		if (!run->run->head.arms.empty())
			throw Failure(ExitCode::Usage,
						  fmt::format("{} has arms, which can be compared within it only: icepath compare {}",
									  run->name, run->name));
	if (!anchor.empty() && analysis::cells_named(*a.run, anchor).empty())
		throw Failure(ExitCode::Usage,
					  fmt::format("--anchor: no cell of {} has \"{}\" in its title: `icepath report -v {}` has their "
								  "titles",
								  a.name, anchor, a.name));
}

Comparison two_runs(const compare::StoredRun &a, const compare::StoredRun &b, const CompareWishes &wishes)
{
	check_two_runs(a, b, wishes.anchor);
	std::vector<analysis::RunResult> results;
	for (const std::string &repeat : wishes.repeats)
		results.push_back(result_of(repeat));
	compare::HowToCompare how{.delta = wishes.delta, .anchor = wishes.anchor};
	std::vector<compare::StoredRun> known = {a, b};
	for (size_t i = 0; i < results.size(); ++i) {
		how.repeats.push_back({wishes.repeats[i], &results[i]});
		check_repeat(a, how.repeats.back());
		check_is_another(known, how.repeats.back());
		known.push_back(how.repeats.back());
	}
	Comparison comparison = compare::compare_runs(a, b, how);
	if (std::ranges::none_of(comparison.cells, [](const compare::ComparedCell &cell) { return cell.a && cell.b; }))
		throw Failure(ExitCode::Usage,
					  fmt::format("{} and {} have no cell in common: compare runs of the same load", a.name, b.name));
	return comparison;
}

std::string printed(const analysis::RunResult &run, const std::vector<Comparison> &comparisons,
					const CompareWishes &wishes, const text::Style &style)
{
	if (wishes.form == CompareWishes::Form::Json)
		return exports::comparisons_json(run, comparisons);
	text::Page page({style.colour, style.unicode}, static_cast<size_t>(std::clamp(style.width, 40, 1000)));
	std::string markdown;
	for (size_t i = 0; i < comparisons.size(); ++i) {
		const Comparison &comparison = comparisons[i];
		markdown += markdown.empty() ? "" : "\n";
		text::add_comparison_markdown(run, comparison, text::kLongestComment * (i + 1) / comparisons.size(), markdown);
		if (&comparison != &comparisons.front())
			page.line();
		text::add_comparison(page, run, comparison, wishes.run);
	}
	return wishes.form == CompareWishes::Form::Markdown ? markdown : page.take();
}

} // namespace

Compared comparison_of(const CompareWishes &wishes, const text::Style &style)
{
	const analysis::RunResult run = result_of(wishes.run);
	std::vector<Comparison> comparisons;
	std::optional<analysis::RunResult> other;
	if (wishes.other.empty())
		comparisons = compare::compare_arms(run, arms_to_compare(run.head, wishes), wishes.delta);
	else {
		other = result_of(wishes.other);
		comparisons.push_back(two_runs({wishes.run, &run}, {wishes.other, &*other}, wishes));
	}
	return {printed(run, comparisons, wishes, style), !std::ranges::all_of(comparisons, [](const Comparison &one) {
				return one.is_whole && one.has_compared();
			})};
}

} // namespace icepath::report
