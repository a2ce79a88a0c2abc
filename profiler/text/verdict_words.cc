// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/verdict_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "profiler/analysis/cell_groups.h"
#include "profiler/explain/leading_figure.h"
#include "profiler/explain/verdict.h"
#include "profiler/model/cell_title.h"
#include "profiler/text/arm_lines.h"

namespace icepath::text {
namespace {

constexpr size_t kMostNames = 3;

// "shm-ring, pipe and tcp", "shm-ring, pipe and 4 others"
std::string listed(const std::vector<std::string> &names)
{
	std::string text;
	const size_t shown = names.size() <= kMostNames ? names.size() : kMostNames - 1;
	for (size_t i = 0; i < shown; ++i)
		text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
	return shown == names.size() ? text : text + fmt::format(" and {} others", names.size() - shown);
}

// Names a cell of a group, whose cells differ by their targets and what the adapters were asked for.
std::string name_in_group(const analysis::RunResult &result, size_t cell)
{
	const model::Cell &of = result.cells[cell].cell;
	return target_of(of) + (of.qos.any() ? " " + model::text(of.qos) : "");
}

std::vector<std::string> names_in_group(const analysis::RunResult &result, const std::vector<size_t> &cells)
{
	std::vector<std::string> names;
	for (const size_t cell : cells)
		names.push_back(name_in_group(result, cell));
	return names;
}

// The cells' targets, each once.
std::vector<std::string> targets_of(const analysis::RunResult &result, const std::vector<size_t> &cells)
{
	std::vector<std::string> targets;
	for (const size_t cell : cells)
		if (const std::string target = target_of(result.cells[cell].cell);
			std::ranges::find(targets, target) == targets.end())
			targets.push_back(target);
	return targets;
}

// "2.23 times (2.15 to 2.31)", and "6.81 times (6.70 to 6.92; their p50s: 6.10)" where these say something else.
std::string times_text(const analysis::RunResult &result, const analysis::RankedCell &cell, size_t fastest)
{
	const stats::RoundRatio &ratio = cell.to_fastest.value();
	const auto by_p50 = explain::other_ratio_by_p50(result, cell.cell, fastest, ratio);
	return fmt::format("{:.2f} times ({:.2f} to {:.2f}{})", ratio.ratio, ratio.interval.low, ratio.interval.high,
					   by_p50 ? fmt::format("; their p50s: {:.2f}", *by_p50) : "");
}

std::string of_one_group(const analysis::RunResult &result, const explain::GroupVerdict &group)
{
	std::string text;
	const std::string fastest = name_in_group(result, group.fastest[0]);
	if (group.fastest.size() > 1 && group.slower.empty())
		return fmt::format("This run doesn't tell which is the fastest: {}.",
						   listed(names_in_group(result, group.fastest)));
	text = group.fastest.size() == 1
			   ? fmt::format("{} is the fastest", fastest)
			   : fmt::format("{} aren't told apart as the fastest", listed(names_in_group(result, group.fastest)));
	const analysis::RankedCell &next = group.slower.front(), &last = group.slower.back();
	text += fmt::format("; {} takes {} as long{}", name_in_group(result, next.cell),
						times_text(result, next, group.fastest[0]), group.fastest.size() > 1 ? " as " + fastest : "");
	if (group.slower.size() > 1)
		text += fmt::format(", {}{} {}", group.slower.size() > 2 ? "the slowest, " : "",
							name_in_group(result, last.cell) + (group.slower.size() > 2 ? "," : ""),
							times_text(result, last, group.fastest[0]));
	return text + ".";
}

std::string of_many_groups(const analysis::RunResult &result, const std::vector<explain::GroupVerdict> &groups)
{
	struct Wins {
		size_t groups = 0;
		double low = 0, high = 0; // by how much the next one is slower
	};
	std::vector<std::pair<std::string, Wins>> by_target;
	size_t tied = 0;
	for (const explain::GroupVerdict &group : groups) {
		if (group.fastest.size() > 1) {
			++tied;
			continue;
		}
		const std::string name = name_in_group(result, group.fastest[0]);
		const double ratio = group.slower.front().to_fastest->ratio;
		auto found = std::ranges::find(by_target, name, &std::pair<std::string, Wins>::first);
		if (found == by_target.end())
			found = by_target.insert(by_target.end(), {name, {0, ratio, ratio}});
		found->second.groups++;
		found->second.low = std::min(found->second.low, ratio);
		found->second.high = std::max(found->second.high, ratio);
	}
	std::ranges::stable_sort(by_target, std::ranges::greater(), [](const auto &one) { return one.second.groups; });
	std::string text;
	for (size_t i = 0; i < std::min(by_target.size(), kMostNames); ++i) {
		const auto &[name, wins] = by_target[i];
		const std::string range = fmt::format("{:.2f}", wins.low) == fmt::format("{:.2f}", wins.high)
									  ? fmt::format("{:.2f}", wins.low)
									  : fmt::format("{:.2f} to {:.2f}", wins.low, wins.high);
		text += fmt::format("{}{} is the fastest in {} of {} groups (the next takes {} times as long)",
							text.empty() ? "" : ", ", name, wins.groups, groups.size(), range);
	}
	if (by_target.size() > kMostNames)
		text += fmt::format(
			", others in {}", groups.size() - tied - [&] {
				size_t named = 0;
				for (size_t i = 0; i < kMostNames; ++i)
					named += by_target[i].second.groups;
				return named;
			}());
	if (tied > 0)
		text += fmt::format("{}n {} of {} groups this run doesn't tell which is the fastest",
							text.empty() ? "I" : "; i", tied, groups.size());
	return text + ".";
}

std::string who_is_fastest(const analysis::RunResult &result)
{
	const std::vector<explain::GroupVerdict> groups = explain::verdicts(result);
	if (groups.empty())
		return "";
	if (groups.size() > 1)
		return of_many_groups(result, groups);
	const size_t compared = groups[0].fastest.size() + groups[0].slower.size();
	const auto measured = std::ranges::count_if(result.cells, [](const analysis::CellResult &cell) {
		return cell.blocks.unprobed > 0 && !analysis::is_floor(cell.cell);
	});
	const model::Cell &first = result.cells[groups[0].fastest[0]].cell;
	return (static_cast<size_t>(measured) > compared
				? fmt::format("{} {}: ", model::payload_text(first.payload_bytes), model::name(first.pattern))
				: "") +
		   of_one_group(result, groups[0]);
}

struct OfKind {
	analysis::LayerKind kind;
	std::vector<size_t> cells;
	double low = 1, high = 0;
};

std::string shares_text(double low, double high)
{
	const auto text = [](double share) { return fmt::format("{:.0f}", share * 100); };
	return text(low) == text(high) ? text(low) + " %" : fmt::format("{} to {} %", text(low), text(high));
}

// Each target once, if it has no other cells; else the titles of its cells.
std::vector<std::string> names_of_all(const analysis::RunResult &result, const std::vector<size_t> &cells)
{
	std::vector<std::string> names;
	for (const size_t index : cells) {
		const model::Cell &cell = result.cells[index].cell;
		const auto is_of_target = [&](size_t other) { return result.cells[other].cell.target == cell.target; };
		const auto all = std::ranges::count(result.cells, cell.target,
											[](const analysis::CellResult &of) { return of.cell.target; });
		const std::string name =
			all == std::ranges::count_if(cells, is_of_target) ? cell.target : analysis::brief_title(result, cell);
		if (std::ranges::find(names, name) == names.end())
			names.push_back(name);
	}
	return names;
}

std::string what_takes_most(const analysis::RunResult &result)
{
	std::vector<OfKind> kinds;
	std::vector<size_t> hidden, perhaps_by_probes;
	size_t known = 0;
	for (size_t i = 0; i < result.cells.size(); ++i) {
		if (explain::hides_modes(result.cells[i]))
			hidden.push_back(i);
		const auto most = explain::most_time(result.cells[i]);
		if (!most)
			continue;
		++known;
		if (most->perhaps_by_probes)
			perhaps_by_probes.push_back(i);
		auto found = std::ranges::find(kinds, most->kind, &OfKind::kind);
		if (found == kinds.end())
			found = kinds.insert(kinds.end(), {most->kind, {}});
		found->cells.push_back(i);
		found->low = std::min(found->low, most->share);
		found->high = std::max(found->high, most->share);
	}
	if (kinds.empty())
		return "";
	std::ranges::stable_sort(kinds, std::ranges::greater(), [](const OfKind &of) { return of.cells.size(); });
	std::string text = "The largest part of a typical message's time is ";
	for (size_t i = 0; i < kinds.size(); ++i) {
		const OfKind &of = kinds[i];
		text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", analysis::style_of(of.kind).word,
							shares_text(of.low, of.high));
		if (kinds.size() == 1)
			break;
		const std::vector<std::string> targets = targets_of(result, of.cells);
		const bool by_target = known <= 2 * kMostNames && targets.size() == of.cells.size();
		text += by_target ? " in " + listed(targets) : fmt::format(" in {} of {} cells", of.cells.size(), known);
	}
	if (!hidden.empty())
		text += fmt::format(", without {}, of whose modes none has most messages or too little is known",
							listed(names_of_all(result, hidden)));
	if (!perhaps_by_probes.empty())
		text += ". Probes may have made it so" + (perhaps_by_probes.size() == known ? ""
												  : perhaps_by_probes.size() <= kMostNames
													  ? " in " + listed(names_of_all(result, perhaps_by_probes))
													  : fmt::format(" in {} of them", perhaps_by_probes.size()));
	return text + ".";
}

} // namespace

std::string verdict_text(const analysis::RunResult &result)
{
	const std::string fastest = who_is_fastest(result), most = what_takes_most(result);
	return fastest + (fastest.empty() || most.empty() ? "" : " ") + most;
}

} // namespace icepath::text
