// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/trust.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "icepath/plugin.h"
#include "profiler/model/cell_title.h"
#include "profiler/report/cell_groups.h"
#include "profiler/report/cell_modes.h"
#include "profiler/report/environment.h"
#include "profiler/report/line_levels.h"
#include "profiler/report/notices.h"
#include "profiler/report/quantity.h"
#include "profiler/report/remedies.h"
#include "profiler/report/worst_message.h"

namespace icepath::report {
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
std::vector<double> widths_of(const RunResult &result, size_t percentile)
{
	std::vector<double> widths;
	for (const CellResult &cell : result.cells)
		if (const auto width = relative_half(cell.latency, percentile);
			width && (stats::kReported[percentile] != stats::kP50 || !lies_between_modes(cell)))
			widths.push_back(*width);
	return widths;
}

// How precise the figures are.
Doubt precision(const RunResult &result)
{
	Doubt doubt;
	const std::vector<double> p50s = widths_of(result, 0), p99s = widths_of(result, 2);
	size_t pairs = 0, told = 0, of_blocks = 0;
	for (const RankedGroup &group : result.ranking)
		for (const ComparedPair &pair : group.pairs) {
			++pairs;
			told += pair.told_apart() ? 1 : 0;
		}
	for (const CellResult &cell : result.cells)
		of_blocks += cell.openings.count > 0 && !cell.openings.carry_intervals() ? 1 : 0;
	const size_t measured = static_cast<size_t>(std::ranges::count_if(
		result.cells, [](const CellResult &cell) { return cell.blocks_probed + cell.blocks_unprobed > 0; }));
	const bool wide = p50s.empty() || std::ranges::max(p50s) > kWide;
	doubt.word = wide ? "wide" : told < pairs || of_blocks > 0 ? "partly" : "ok";
	const auto between = static_cast<size_t>(std::ranges::count_if(result.cells, lies_between_modes));
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
Doubt steadiness(const RunResult &result)
{
	Doubt doubt{"ok", {}, ""};
	bool stayed = result.tail && !result.tail->cache_lines.empty();
	for (const model::CacheLine &line : result.tail ? result.tail->cache_lines : std::vector<model::CacheLine>())
		if (const std::vector<LineLevel> levels = levels_of(line); levels.size() > 1) {
			stayed = false;
			const auto [low, high] = std::ranges::minmax(levels, {}, &LineLevel::round_trip_ns);
			doubt.word = "changed";
			doubt.facts.push_back(fmt::format("CPU {} to {}: {} to {}, {} change{}", line.from_cpu, line.to_cpu,
											  duration(static_cast<double>(low.round_trip_ns)),
											  duration(static_cast<double>(high.round_trip_ns)), levels.size() - 1,
											  levels.size() == 2 ? "" : "s"));
			break;
		}
	size_t drifted = 0, differ = 0;
	for (const CellResult &cell : result.cells) {
		drifted += cell.openings.drifted(result.cells.size()) ? 1 : 0;
		differ += cell.openings.p50s.differ() ? 1 : 0;
	}
	if (drifted > 0) {
		doubt.word = "changed";
		doubt.facts.push_back(fmt::format("p50 drifted in {}", cells_text(drifted)));
	}
	const auto noise = noise_names(result.head);
	if (noise && !noise->empty()) {
		if (doubt.word == "ok")
			doubt.word = "noisy";
		constexpr size_t kShown = 2;
		std::string names;
		for (size_t i = 0; i < std::min(noise->size(), kShown); ++i)
			names += (i == 0 ? "" : ", ") + (*noise)[i];
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

// How well the layers are known, and what knowing them cost.
Doubt knowledge(const RunResult &result)
{
	Doubt doubt{"ok", {}, ""};
	uint64_t probed = 0, complete = 0;
	size_t effects = 0, told = 0;
	double largest = 0;
	for (const CellResult &cell : result.cells) {
		probed += cell.probed;
		complete += cell.complete();
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
	if (probed == 0)
		return {"none", {"no message was followed: there are no layers"}, kDoctor};
	const double share = static_cast<double>(complete) / static_cast<double>(probed);
	const CellResult &least = *std::ranges::min_element(result.cells, {}, &CellResult::share_known);
	if (least.share_known() < kMostOfCell) {
		doubt.word = "partly";
		doubt.facts.push_back(fmt::format("path known of {:.0f} % of {} of {}", std::floor(least.share_known() * 100),
										  least.time_known() < least.messages_known() ? "the time" : "messages",
										  brief_title(result, least.cell)));
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
	const auto tail_is_lost = [](const CellResult &cell) {
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
	if (told > 0)
		doubt.facts.push_back(fmt::format("probes change the p50 of {} of {}, by up to {:+.0f} %", told,
										  cells_text(effects), largest * 100));
	else if (effects > 0)
		doubt.facts.push_back(fmt::format("probes have no measurable effect on {}", cells_text(effects)));
	return doubt;
}

// What was lost or went wrong.
Doubt completeness(const RunResult &result)
{
	uint64_t lost = 0, sent = 0;
	for (const CellResult &cell : result.cells) {
		lost += cell.messages.lost;
		sent += cell.messages.sent;
	}
	const std::vector<std::string> flawed = flaws(result);
	Doubt doubt{"ok", flawed, ""};
	if (lost > 0)
		doubt.facts.push_back(fmt::format("{} of {} messages lost", count(lost), count(sent)));
	if (!flawed.empty() || lost > 0) {
		doubt.word = flawed.empty() ? "lost" : "flawed";
		doubt.remedy = kFullReport;
	} else {
		doubt.facts.emplace_back("no message, block or record lost");
	}
	return doubt;
}

} // namespace

std::vector<Doubt> doubts(const RunResult &result)
{
	return {precision(result), steadiness(result), knowledge(result), completeness(result)};
}

std::vector<model::Fitness> fitness_of(const RunResult &result)
{
	model::Quietness seen{result.head.noise, std::nullopt, std::nullopt};
	if (!result.tail)
		return model::fitness(seen);
	seen.steal = result.tail->steal;
	double farthest = 0;
	for (const model::CacheLine &line : result.tail->cache_lines) {
		const std::vector<LineLevel> levels = levels_of(line);
		if (line.times.size() < 2)
			continue;
		const auto [low, high] = std::ranges::minmax(levels, {}, &LineLevel::round_trip_ns);
		const double apart = static_cast<double>(high.round_trip_ns) / static_cast<double>(low.round_trip_ns);
		if (apart > farthest) {
			farthest = apart;
			seen.round_trip_ns = {low.round_trip_ns, high.round_trip_ns};
		}
	}
	return model::fitness(seen);
}

std::string unfit_for_tails(const RunResult &result)
{
	const std::vector<model::Fitness> all = fitness_of(result);
	const auto tails = std::ranges::find(all, std::string_view("tails"), &model::Fitness::purpose);
	return tails != all.end() && tails->fit == false ? tails->found : "";
}

void add_trust(Page &page, const RunResult &result)
{
	size_t words = 0;
	const std::vector<Doubt> all = doubts(result);
	for (const Doubt &doubt : all)
		words = std::max(words, columns(doubt.word));
	std::string label = "trust";
	for (const Doubt &doubt : all) {
		page.line_with_command(pad_right(label, 10) + pad_right(doubt.word, words) + "  ", doubt.facts, doubt.remedy);
		label.clear();
	}
}

void add_fit_for(Page &page, const RunResult &result, bool in_full)
{
	const std::vector<model::Fitness> all = fitness_of(result);
	if (in_full) {
		std::string label = "fit for";
		for (const model::Fitness &one : all) {
			page.paragraph(label,
						   fmt::format("{}: {}: {} (yes: {})", one.purpose, one.word(), one.found, one.threshold));
			label.clear();
		}
		return;
	}
	std::string fit, unfit;
	std::vector<std::string> facts = {""}; // the first is always shown
	for (const model::Fitness &one : all) {
		if (!one.fit)
			continue;
		std::string &names = *one.fit ? fit : unfit;
		names += (names.empty() ? "" : ", ") + std::string(one.purpose);
		if (!*one.fit && facts.size() == 1)
			facts.insert(facts.end(), {one.found, "yes: " + one.threshold});
	}
	if (!unfit.empty())
		unfit = (fit.empty() ? "not " : "; not ") + unfit;
	facts[0] = fit + unfit;
	facts.emplace_back("by a look before the first block");
	if (!facts[0].empty())
		page.line_with_command(pad_right("fit for", 10), facts, "");
}

const WorstMessage *worst_message(const RunResult &result)
{
	const WorstMessage *worst = nullptr;
	for (const CellResult &cell : result.cells)
		if (!cell.cell.traits.has(model::Trait::NotIpc) && cell.worst() &&
			(!worst || cell.worst()->latency_ns() > worst->latency_ns()))
			worst = cell.worst();
	return worst;
}

uint64_t slowest_ns(const RunResult &result)
{
	uint64_t slowest = 0;
	for (const CellResult &cell : result.cells)
		if (!cell.cell.traits.has(model::Trait::NotIpc))
			slowest = std::max({slowest, cell.latency.max, cell.latency_probed.max});
	return slowest;
}

void add_slowest(Page &page, const RunResult &result)
{
	const WorstMessage *worst = worst_message(result);
	if (!worst)
		return;
	const MostOfMessage most = most_of(*worst);
	std::vector<std::string> facts = {fmt::format("{}, {}: {} {}", brief_title(result, result.cells[worst->cell].cell),
												  duration(static_cast<double>(worst->latency_ns())),
												  percent(most.share), most.layer)};
	if (!most.who.empty())
		facts[0] += ", " + most.who;
	if (slowest_ns(result) > worst->latency_ns())
		facts.push_back(fmt::format("of all {}", duration(static_cast<double>(slowest_ns(result)))));
	page.line_with_command(pad_right("slowest", 10), facts, "icepath explain RUN");
}

namespace {

using SumsByName = std::map<std::pair<std::string, std::string>, CulpritSum>; // by name and layer

// Names alone don't tell tasks from what has no name.
std::string in_words(const CulpritRow &row)
{
	using Kind = path::Culprit::Kind;
	if (row.kind == Kind::Unknown)
		return "unknown (no record)";
	return row.kind == Kind::Task && !row.name.starts_with("task ") ? "task " + row.name : row.name;
}

void add(const CulpritRow &row, const std::string &layer, SumsByName &sums)
{
	const std::string name = in_words(row);
	CulpritSum &sum = sums.try_emplace({name, layer}, CulpritSum{name, layer, 0, 0}).first->second;
	sum.ns += row.total_ns;
	sum.segments += row.segments;
}

std::vector<CulpritSum> longest_first(const SumsByName &sums)
{
	std::vector<CulpritSum> list;
	for (const auto &[key, sum] : sums)
		list.push_back(sum);
	std::ranges::stable_sort(list, std::ranges::greater(), &CulpritSum::ns);
	return list;
}

// Without the threads that a cell's messages pass, such as a library's own; and without CPUs that idled, whose waking
// is a layer of its own and took time from nobody.
std::vector<CulpritSum> sums_of_others(const std::vector<CellResult> &cells)
{
	SumsByName sums;
	for (const CellResult &cell : cells) {
		const std::vector<std::string> own = own_threads(cell.layers);
		for (const CulpritRow &row : cell.culprits.top(SIZE_MAX)) {
			const bool is_own = row.kind == path::Culprit::Kind::Task && std::ranges::find(own, row.name) != own.end();
			if (!is_own && row.kind != path::Culprit::Kind::IdleCpu)
				add(row, "", sums);
		}
	}
	return longest_first(sums);
}

} // namespace

std::vector<CulpritSum> culprit_sums(const std::vector<CellResult> &cells)
{
	SumsByName sums;
	for (const CellResult &cell : cells)
		for (const CulpritRow &row : cell.culprits.top(SIZE_MAX))
			add(row, std::string(model::name(row.layer)), sums);
	return longest_first(sums);
}

namespace {

// The longest `shown` by name, and the others together, so that they add up.
std::vector<std::string> names_and_others(const std::vector<CulpritSum> &sums, size_t shown)
{
	std::vector<std::string> facts;
	uint64_t rest = 0;
	for (size_t i = 0; i < sums.size(); ++i)
		if (i < shown)
			facts.push_back(fmt::format("{} {}", sums[i].name, duration(static_cast<double>(sums[i].ns))));
		else
			rest += sums[i].ns;
	if (const size_t others = sums.size() - facts.size(); others > 0)
		facts.push_back(
			fmt::format("{} other{} {}", others, others == 1 ? "" : "s", duration(static_cast<double>(rest))));
	return facts;
}

} // namespace

void add_taken_by(Page &page, const RunResult &result)
{
	constexpr size_t kShown = 5, kLabel = 10;
	double total_ns = 0, taken_ns = 0;
	for (const CellResult &cell : result.cells)
		total_ns += static_cast<double>(cell.layers.total_ns());
	const std::vector<CulpritSum> sums = sums_of_others(result.cells);
	if (sums.empty() || total_ns == 0)
		return;
	for (const CulpritSum &sum : sums)
		taken_ns += static_cast<double>(sum.ns);
	size_t shown = std::min(kShown, sums.size());
	const auto facts = [&] { return names_and_others(sums, shown); };
	while (shown > 1 && columns(page.spelled(fitting(facts(), SIZE_MAX))) > page.width() - kLabel)
		--shown;
	std::vector<std::string> all = facts();
	all.push_back(fmt::format("{} of messages' time", percent(taken_ns / total_ns)));
	page.line_with_command(pad_right("taken by", kLabel), all, "");
}

} // namespace icepath::report
