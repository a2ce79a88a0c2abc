// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/trust.h"

#include <algorithm>
#include <cmath>

#include "profiler/analysis/cell_result.h"
#include "profiler/analysis/line_levels.h"
#include "profiler/explain/kernel_losses.h"
#include "profiler/explain/notices.h"
#include "profiler/stats/quantity.h"

namespace icepath::explain {
namespace {

constexpr double kWide = 0.1; // half of a p50's interval, as a share of it
constexpr double kMostlyComplete = 0.999, kMostOfCell = 0.99, kMostOfTail = 0.9;
constexpr double kLonger = 4; // halves an interval

template <class Is> double cells_that(const analysis::RunResult &result, const Is &is)
{
	return static_cast<double>(std::ranges::count_if(result.cells, is));
}

// Half of each interval that a report shows, as a share of its value.
std::vector<double> widths_of(const analysis::RunResult &result, size_t percentile)
{
	std::vector<double> widths;
	for (const analysis::CellResult &cell : result.cells)
		if (const auto width = stats::relative_half(cell.times.latency, percentile);
			width && (stats::kReported[percentile] != stats::kP50 || !analysis::lies_between_modes(cell)))
			widths.push_back(*width);
	return widths;
}

// The widest interval of all.
Finding widths_finding(FindingId id, const std::vector<double> &widths)
{
	Finding finding{.id = id};
	if (widths.empty())
		return finding;
	const auto [low, high] = std::ranges::minmax(widths);
	finding.value = high;
	finding.evidence = {{Fact::LeastShare, low}};
	return finding;
}

// How precise the figures are.
Trust precision(const analysis::RunResult &result)
{
	Trust trust{.topic = Topic::Precision};
	const std::vector<double> p50s = widths_of(result, 0), p99s = widths_of(result, 2);
	size_t pairs = 0, told = 0;
	for (const analysis::RankedGroup &group : result.ranking)
		for (const analysis::ComparedPair &pair : group.pairs) {
			++pairs;
			told += pair.told_apart() ? 1 : 0;
		}
	const double of_blocks = cells_that(result, [](const analysis::CellResult &cell) {
		return cell.openings.count > 0 && !cell.openings.carry_intervals();
	});
	const double measured = cells_that(
		result, [](const analysis::CellResult &cell) { return cell.blocks.probed + cell.blocks.unprobed > 0; });
	const bool wide = p50s.empty() || std::ranges::max(p50s) > kWide;
	trust.grade = wide ? Grade::Wide : told < pairs || of_blocks > 0 ? Grade::Partly : Grade::Ok;

	Finding p50 = widths_finding(FindingId::P50Widths, p50s);
	p50.limit = kWide;
	p50.severity = wide ? Severity::Doubt : Severity::Ok;
	p50.evidence.push_back({Fact::CellsBetweenModes, cells_that(result, analysis::lies_between_modes)});
	trust.findings.push_back(std::move(p50));
	if (!p99s.empty() || !p50s.empty()) {
		Finding p99 = widths_finding(FindingId::P99Widths, p99s);
		p99.severity = p99s.empty() ? Severity::Doubt : Severity::Ok;
		p99.evidence.push_back({Fact::Cells, number(p99s.size())});
		p99.evidence.push_back({Fact::Of, measured});
		trust.findings.push_back(std::move(p99));
	}
	if (pairs > 0)
		trust.findings.push_back({.id = FindingId::PairsToldApart,
								  .value = number(told),
								  .evidence = {{Fact::Of, number(pairs)}},
								  .severity = told < pairs ? Severity::Doubt : Severity::Ok});
	if (of_blocks > 0)
		trust.findings.push_back(
			{.id = FindingId::FewProcesses, .value = of_blocks, .limit = number(stats::kMinBlocks)});
	if (trust.grade != Grade::Ok) {
		trust.mend = Mend::MeasureLonger;
		trust.needed_s = kLonger * result.head.budget_s;
	}
	return trust;
}

// The first pair of CPUs between which the round trip changed.
std::optional<Finding> changed_round_trip(const std::vector<model::CacheLine> &lines)
{
	for (const model::CacheLine &line : lines)
		if (const std::vector<analysis::LineLevel> levels = analysis::levels_of(line); levels.size() > 1) {
			const auto [low, high] = std::ranges::minmax(levels, {}, &analysis::LineLevel::round_trip_ns);
			return Finding{.id = FindingId::RoundTripChanged,
						   .value = number(high.round_trip_ns) / number(low.round_trip_ns),
						   .limit = model::kLineApart,
						   .evidence = {{Fact::FromCpu, number(line.from_cpu)},
										{Fact::ToCpu, number(line.to_cpu)},
										{Fact::LowNs, number(low.round_trip_ns)},
										{Fact::HighNs, number(high.round_trip_ns)},
										{Fact::Changes, number(levels.size() - 1)}}};
		}
	return std::nullopt;
}

// Whether the machine stayed the same, and how quiet it was.
Trust steadiness(const analysis::RunResult &result)
{
	Trust trust{.topic = Topic::Steadiness};
	const auto add = [&](Finding finding, Grade grade) {
		trust.findings.push_back(std::move(finding));
		if (trust.grade == Grade::Ok)
			trust.grade = grade;
	};
	const std::vector<model::CacheLine> &lines =
		result.tail ? result.tail->cache_lines : std::vector<model::CacheLine>();
	const std::optional<Finding> changed = changed_round_trip(lines);
	if (changed)
		add(*changed, Grade::Changed);
	if (const double drifted = cells_that(
			result, [&](const analysis::CellResult &cell) { return cell.openings.drifted(result.cells.size()); });
		drifted > 0)
		add({.id = FindingId::CellsDrifted, .value = drifted}, Grade::Changed);
	const auto noise = noise_of(result.head);
	if (noise && !noise->empty()) {
		std::string names;
		for (const model::Disturbance &one : *noise)
			names += (names.empty() ? "" : " ") + one.name;
		add({.id = FindingId::NotQuiet, .value = number(noise->size()), .evidence = {{Fact::Names, names}}},
			Grade::Noisy);
	}
	if (const double differ =
			cells_that(result, [](const analysis::CellResult &cell) { return cell.openings.p50s.differ(); });
		differ > 0)
		add({.id = FindingId::ProcessesDiffer, .value = differ}, Grade::Ok);
	if (!trust.findings.empty())
		trust.mend = Mend::Doctor;
	if (!noise)
		add({.id = FindingId::NoiseNotLookedFor}, Grade::Unknown);
	else if (noise->empty())
		add({.id = FindingId::NoKnownNoise}, Grade::Ok);
	if (!lines.empty() && !changed)
		add({.id = FindingId::RoundTripSame}, Grade::Ok);
	return trust;
}

// What probes change of the p50s; nothing if that isn't known of any cell.
std::optional<Finding> cost_of_probes(const analysis::RunResult &result)
{
	size_t effects = 0, told = 0;
	double largest = 0; // as a share of the p50
	for (const analysis::CellResult &cell : result.cells) {
		const auto &effect = cell.observer_effect.p50;
		const auto p50 = cell.times.latency.percentiles[0];
		if (!effect || !effect->interval || !p50 || *p50 == 0)
			continue;
		++effects;
		if (effect->interval->low <= 0 && effect->interval->high >= 0)
			continue;
		++told;
		if (const double share = effect->mean / number(*p50); std::abs(share) > std::abs(largest))
			largest = share;
	}
	if (effects == 0)
		return std::nullopt;
	Finding cost{.id = FindingId::ProbesCost, .value = number(told), .evidence = {{Fact::Of, number(effects)}}};
	if (told > 0)
		cost.evidence.push_back({Fact::LargestShare, largest});
	return cost;
}

// Probes that don't work here; nothing: all do.
std::optional<Finding> missing_probes(const model::Head &head)
{
	size_t probes = 0, missing = 0;
	for (const model::ProbeUse &use : head.probes) {
		probes += use.tier == "stamp" ? 0 : 1;
		missing += use.tier == "none" ? 1 : 0;
	}
	if (missing == 0)
		return std::nullopt;
	return Finding{.id = FindingId::ProbesMissing, .value = number(missing), .evidence = {{Fact::Of, number(probes)}}};
}

// How well the layers are known, and what knowing them cost.
Trust knowledge(const analysis::RunResult &result)
{
	uint64_t probed = 0, complete = 0;
	for (const analysis::CellResult &cell : result.cells) {
		probed += cell.paths.deliveries;
		complete += cell.paths.complete();
	}
	if (probed == 0)
		return {Topic::Knowledge, Grade::None, {{.id = FindingId::NothingFollowed}}, Mend::Doctor};
	Trust trust{.topic = Topic::Knowledge};
	const double share = number(complete) / number(probed);
	const auto least = std::ranges::min_element(
		result.cells, {}, [](const analysis::CellResult &cell) { return cell.paths.share_known(); });
	if (least->paths.share_known() < kMostOfCell)
		trust.findings.push_back(
			{.id = FindingId::PathOfCell,
			 .cell = static_cast<size_t>(least - result.cells.begin()),
			 .value = least->paths.share_known(),
			 .limit = kMostOfCell,
			 .evidence = {{Fact::OfTime, least->paths.time_known() < least->paths.messages_known() ? 1.0 : 0.0}}});
	Finding of_all{.id = FindingId::PathOfAll, .value = share, .limit = kMostlyComplete};
	if (share < kMostlyComplete) {
		of_all.severity = Severity::Doubt;
		of_all.mend = Mend::FullReport;
	}
	trust.findings.push_back(std::move(of_all));
	// Even few lost paths matter in the tail: a path is lost where much happens at once.
	if (const double cells = cells_that(result,
										[](const analysis::CellResult &cell) {
											return cell.ranges.tail && cell.ranges.tail->share_known() < kMostOfTail;
										});
		cells > 0)
		trust.findings.push_back(
			{.id = FindingId::PathOfTails, .value = cells, .evidence = {{Fact::LeastShare, kMostOfTail}}});
	if (std::optional<Finding> missing = missing_probes(result.head))
		trust.findings.push_back(std::move(*missing));
	for (const Finding &finding : trust.findings)
		if (finding.severity == Severity::Doubt) {
			trust.grade = Grade::Partly;
			if (trust.mend == Mend::None) // of the first, which costs most
				trust.mend = finding.mend;
		}
	if (std::optional<Finding> cost = cost_of_probes(result))
		trust.findings.push_back(std::move(*cost));
	return trust;
}

// What was lost or went wrong.
Trust completeness(const analysis::RunResult &result)
{
	uint64_t lost = 0, sent = 0, at_full_buffers = 0;
	for (const analysis::CellResult &cell : result.cells) {
		lost += cell.messages.lost;
		sent += cell.messages.sent;
		at_full_buffers += cell.messages.lost > 0 ? dropped_at_full_buffers(cell) : 0;
	}
	Trust trust{.topic = Topic::Completeness, .findings = flaws(result)};
	const bool flawed = !trust.findings.empty();
	if (lost > 0)
		trust.findings.push_back(
			{.id = FindingId::MessagesLost,
			 .value = number(lost),
			 .evidence = {{Fact::Of, number(sent)}, {Fact::AtFullBuffers, number(at_full_buffers)}}});
	if (trust.findings.empty()) {
		trust.findings.push_back({.id = FindingId::NothingLost});
		return trust;
	}
	trust.grade = flawed ? Grade::Flawed : Grade::Lost;
	trust.mend = Mend::FullReport;
	return trust;
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

std::vector<Trust> trust_in(const analysis::RunResult &result)
{
	return {precision(result), steadiness(result), knowledge(result), completeness(result)};
}

std::vector<model::Fitness> fitness_of(const analysis::RunResult &result)
{
	model::Quietness seen{result.head.noise, std::nullopt, std::nullopt, result.interference};
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

std::optional<model::Fitness> unfit_for_tails(const analysis::RunResult &result)
{
	for (const model::Fitness &one : fitness_of(result))
		if (one.purpose == model::Purpose::Tails && one.fit == false)
			return one;
	return std::nullopt;
}

std::vector<Finding> fitness_findings(const analysis::RunResult &result)
{
	constexpr std::array<FindingId, 3> kIds = {FindingId::FitForMedians, FindingId::FitForRanks,
											   FindingId::FitForTails};
	std::vector<Finding> findings;
	for (const model::Fitness &one : fitness_of(result)) {
		Finding &finding = findings.emplace_back(
			Finding{.id = kIds.at(static_cast<size_t>(one.purpose)),
					.limit = one.purpose == model::Purpose::Tails ? model::kTakenForTails : model::kTakenForMedians});
		finding.severity = !one.fit ? Severity::Note : *one.fit ? Severity::Ok : Severity::Doubt;
		finding.mend = one.fit == false ? Mend::Doctor : Mend::None;
		if (one.taken) {
			finding.value = std::max(one.taken->share, one.taken->stolen);
			finding.evidence = {{Fact::Cpu, number(one.taken->cpu)},
								{Fact::OfNs, number(one.taken->of_ns)},
								{Fact::LongestNs, number(one.taken->longest_ns)},
								{Fact::Stolen, one.taken->stolen}};
		}
		if (one.round_trip_ns) {
			finding.evidence.push_back({Fact::LowNs, number(one.round_trip_ns->first)});
			finding.evidence.push_back({Fact::HighNs, number(one.round_trip_ns->second)});
		}
	}
	return findings;
}

} // namespace icepath::explain
