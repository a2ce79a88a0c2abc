// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/trust.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "icepath/plugin.h"
#include "profiler/analysis/cell_groups.h"
#include "profiler/analysis/cell_modes.h"
#include "profiler/analysis/line_levels.h"
#include "profiler/explain/notices.h"
#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"

namespace icepath::explain {
namespace {

constexpr double kWide = 0.1; // half of a p50's interval, as a share of it
constexpr double kMostlyComplete = 0.999, kMostOfCell = 0.99, kMostOfTail = 0.9;
constexpr const char *kFullReport = "icepath report -v RUN";
constexpr const char *kDoctor = "icepath doctor";

std::string cells_text(size_t cells) { return fmt::format("{} cell{}", cells, cells == 1 ? "" : "s"); }

std::string duration_option(double seconds)
{
	return seconds < 120 ? fmt::format("-d {:.0f}", seconds) : fmt::format("-d {:.0f}m", std::ceil(seconds / 60));
}

// "±3 to ±62 %"
std::string widths_text(const std::vector<double> &widths)
{
	const auto [low, high] = std::ranges::minmax(widths);
	const auto text = [](double width) {
		return width < 1 ? fmt::format("±{:.0f}", width * 100) : std::string("±>100");
	};
	return text(low) == text(high) ? text(low) + " %" : fmt::format("{} to {} %", text(low), text(high));
}

// Half of each interval that a report shows, as a share of its value.
std::vector<double> widths_of(const analysis::RunResult &result, size_t percentile)
{
	std::vector<double> widths;
	for (const analysis::CellResult &cell : result.cells)
		if (const auto width = stats::relative_half(cell.latency, percentile);
			width && (stats::kReported[percentile] != stats::kP50 || !analysis::lies_between_modes(cell)))
			widths.push_back(*width);
	return widths;
}

// How precise the figures are.
Doubt precision(const analysis::RunResult &result)
{
	Doubt doubt;
	const std::vector<double> p50s = widths_of(result, 0), p99s = widths_of(result, 2);
	size_t pairs = 0, told = 0, of_blocks = 0;
	for (const analysis::RankedGroup &group : result.ranking)
		for (const analysis::ComparedPair &pair : group.pairs) {
			++pairs;
			told += pair.told_apart() ? 1 : 0;
		}
	for (const analysis::CellResult &cell : result.cells)
		of_blocks += cell.openings.count > 0 && !cell.openings.carry_intervals() ? 1 : 0;
	const size_t measured = static_cast<size_t>(std::ranges::count_if(
		result.cells, [](const analysis::CellResult &cell) { return cell.blocks_probed + cell.blocks_unprobed > 0; }));
	const bool wide = p50s.empty() || std::ranges::max(p50s) > kWide;
	doubt.word = wide ? "wide" : told < pairs || of_blocks > 0 ? "partly" : "ok";
	const auto between = static_cast<size_t>(std::ranges::count_if(result.cells, analysis::lies_between_modes));
	doubt.facts.push_back(!p50s.empty() ? "p50 " + widths_text(p50s)
						  : between > 0 ? "no p50"
										: "no p50 has an interval");
	if (between > 0)
		doubt.facts.back() += fmt::format(", between modes in {}", cells_text(between));
	if (!p99s.empty())
		doubt.facts.push_back(fmt::format("p99 {}", widths_text(p99s)));
	else if (!p50s.empty())
		doubt.facts.emplace_back("no p99 has an interval");
	if (p99s.size() < measured && !p99s.empty())
		doubt.facts.back() += fmt::format(" in {} of {}", p99s.size(), cells_text(measured));
	if (pairs > 0)
		doubt.facts.push_back(fmt::format("{} of {} pairs told apart", told, pairs));
	if (of_blocks > 0)
		doubt.facts.push_back(
			fmt::format("{}: fewer than {} fresh processes", cells_text(of_blocks), stats::kMinBlocks));
	if (doubt.word != "ok")
		doubt.remedy = duration_option(4 * result.head.budget_s);
	return doubt;
}

// Whether the machine stayed the same, and how quiet it was.
Doubt steadiness(const analysis::RunResult &result)
{
	Doubt doubt{"ok", {}, ""};
	bool stayed = result.tail && !result.tail->cache_lines.empty();
	for (const model::CacheLine &line : result.tail ? result.tail->cache_lines : std::vector<model::CacheLine>())
		if (const std::vector<analysis::LineLevel> levels = analysis::levels_of(line); levels.size() > 1) {
			stayed = false;
			const auto [low, high] = std::ranges::minmax(levels, {}, &analysis::LineLevel::round_trip_ns);
			doubt.word = "changed";
			doubt.facts.push_back(fmt::format("CPU {} to {}: {} to {}, {} change{}", line.from_cpu, line.to_cpu,
											  stats::duration(static_cast<double>(low.round_trip_ns)),
											  stats::duration(static_cast<double>(high.round_trip_ns)),
											  levels.size() - 1, levels.size() == 2 ? "" : "s"));
			break;
		}
	size_t drifted = 0, differ = 0;
	for (const analysis::CellResult &cell : result.cells) {
		drifted += cell.openings.drifted(result.cells.size()) ? 1 : 0;
		differ += cell.openings.p50s.differ() ? 1 : 0;
	}
	if (drifted > 0) {
		doubt.word = "changed";
		doubt.facts.push_back(fmt::format("p50 drifted in {}", cells_text(drifted)));
	}
	const auto noise = noise_of(result.head);
	if (noise && !noise->empty()) {
		if (doubt.word == "ok")
			doubt.word = "noisy";
		constexpr size_t kShown = 2;
		std::string names;
		for (size_t i = 0; i < std::min(noise->size(), kShown); ++i)
			names += (i == 0 ? "" : ", ") + (*noise)[i].name;
		std::ranges::replace(names, '_', ' ');
		doubt.facts.push_back("not quiet: " + names +
							  (noise->size() > kShown ? fmt::format(", {} more", noise->size() - kShown) : ""));
	}
	if (differ > 0)
		doubt.facts.push_back(fmt::format("fresh processes differ in {}", cells_text(differ)));
	if (!doubt.facts.empty())
		doubt.remedy = kDoctor;
	if (!noise) {
		doubt.word = doubt.word == "ok" ? "unknown" : doubt.word;
		doubt.facts.emplace_back("this run didn't look for noise");
	} else if (noise->empty()) {
		doubt.facts.emplace_back("no known kind of noise");
	}
	if (stayed)
		doubt.facts.emplace_back("the round trip between the CPUs stayed the same");
	return doubt;
}

// What probes change of the p50s; empty if that isn't known of any cell.
std::string cost_of_probes(const analysis::RunResult &result)
{
	size_t effects = 0, told = 0;
	double largest = 0; // as a share of the p50
	for (const analysis::CellResult &cell : result.cells) {
		const auto &effect = cell.observer_effect.p50;
		const auto p50 = cell.latency.percentiles[0];
		if (!effect || !effect->interval || !p50 || *p50 == 0)
			continue;
		++effects;
		if (effect->interval->low <= 0 && effect->interval->high >= 0)
			continue;
		++told;
		if (const double share = effect->mean / static_cast<double>(*p50); std::abs(share) > std::abs(largest))
			largest = share;
	}
	if (told > 0)
		return fmt::format("probes change the p50 of {} of {}, by up to {:+.0f} %", told, cells_text(effects),
						   largest * 100);
	return effects > 0 ? fmt::format("probes have no measurable effect on {}", cells_text(effects)) : "";
}

// How well the layers are known, and what knowing them cost.
Doubt knowledge(const analysis::RunResult &result)
{
	Doubt doubt{"ok", {}, ""};
	uint64_t probed = 0, complete = 0;
	for (const analysis::CellResult &cell : result.cells) {
		probed += cell.probed;
		complete += cell.complete();
	}
	if (probed == 0)
		return {"none", {"no message was followed: there are no layers"}, kDoctor};
	const double share = static_cast<double>(complete) / static_cast<double>(probed);
	const analysis::CellResult &least = *std::ranges::min_element(result.cells, {}, &analysis::CellResult::share_known);
	if (least.share_known() < kMostOfCell) {
		doubt.word = "partly";
		doubt.facts.push_back(fmt::format("path known of {:.0f} % of {} of {}", std::floor(least.share_known() * 100),
										  least.time_known() < least.messages_known() ? "the time" : "messages",
										  analysis::brief_title(result, least.cell)));
		doubt.remedy = kFullReport;
	}
	const std::string part = share == 1 ? "all" : fmt::format("{:.1f} % of", std::floor(share * 1000) / 10);
	doubt.facts.push_back(doubt.facts.empty() ? fmt::format("path known of {} messages", part)
											  : fmt::format("of {}{} messages", part, share == 1 ? "" : " all"));
	if (share < kMostlyComplete) {
		doubt.word = "partly";
		doubt.remedy = kFullReport;
	}
	// Even few lost paths matter in the tail: a path is lost where much happens at once.
	const auto tail_is_lost = [](const analysis::CellResult &cell) {
		return cell.tail && cell.tail->share_known() < kMostOfTail;
	};
	if (const auto cells = std::ranges::count_if(result.cells, tail_is_lost); cells > 0) {
		doubt.word = "partly";
		doubt.facts.push_back(fmt::format("path known of less than {:.0f} % of the slowest messages in {}",
										  100 * kMostOfTail, cells_text(static_cast<size_t>(cells))));
		doubt.remedy = kFullReport;
	}
	size_t probes = 0, missing = 0;
	for (const model::ProbeUse &use : result.head.probes) {
		probes += use.tier == "stamp" ? 0 : 1;
		missing += use.tier == "none" ? 1 : 0;
	}
	if (missing > 0) {
		doubt.word = "partly";
		doubt.facts.push_back(fmt::format("{} of {} probes don't work here", missing, probes));
		doubt.remedy = kDoctor;
	}
	if (const std::string cost = cost_of_probes(result); !cost.empty())
		doubt.facts.push_back(cost);
	return doubt;
}

// What was lost or went wrong.
Doubt completeness(const analysis::RunResult &result)
{
	uint64_t lost = 0, sent = 0;
	for (const analysis::CellResult &cell : result.cells) {
		lost += cell.messages.lost;
		sent += cell.messages.sent;
	}
	const std::vector<std::string> flawed = flaws(result);
	Doubt doubt{"ok", flawed, ""};
	if (lost > 0)
		doubt.facts.push_back(fmt::format("{} of {} messages lost", stats::count(lost), stats::count(sent)));
	if (!flawed.empty() || lost > 0) {
		doubt.word = flawed.empty() ? "lost" : "flawed";
		doubt.remedy = kFullReport;
	} else {
		doubt.facts.emplace_back("no message, block or record lost");
	}
	return doubt;
}

} // namespace

std::optional<std::vector<model::Disturbance>> noise_of(const model::Head &head)
{
	if (!head.isolation.items)
		return std::nullopt;
	std::vector<model::Disturbance> noise;
	std::ranges::remove_copy_if(*head.isolation.items, std::back_inserter(noise), &model::Disturbance::quiet);
	return noise;
}

std::vector<Doubt> doubts(const analysis::RunResult &result)
{
	return {precision(result), steadiness(result), knowledge(result), completeness(result)};
}

std::vector<model::Fitness> fitness_of(const analysis::RunResult &result)
{
	model::Quietness seen{result.head.noise, std::nullopt, std::nullopt};
	if (!result.tail)
		return model::fitness(seen);
	seen.steal = result.tail->steal;
	double farthest = 0;
	for (const model::CacheLine &line : result.tail->cache_lines) {
		const std::vector<analysis::LineLevel> levels = analysis::levels_of(line);
		if (line.times.size() < 2)
			continue;
		const auto [low, high] = std::ranges::minmax(levels, {}, &analysis::LineLevel::round_trip_ns);
		const double apart = static_cast<double>(high.round_trip_ns) / static_cast<double>(low.round_trip_ns);
		if (apart > farthest) {
			farthest = apart;
			seen.round_trip_ns = {low.round_trip_ns, high.round_trip_ns};
		}
	}
	return model::fitness(seen);
}

std::string unfit_for_tails(const analysis::RunResult &result)
{
	const std::vector<model::Fitness> all = fitness_of(result);
	const auto tails = std::ranges::find(all, std::string_view("tails"), &model::Fitness::purpose);
	return tails != all.end() && tails->fit == false ? tails->found : "";
}

} // namespace icepath::explain
