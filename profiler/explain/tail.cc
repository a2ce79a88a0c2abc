// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/tail.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "profiler/analysis/named_cells.h"
#include "profiler/explain/unknown_paths.h"
#include "profiler/stats/far_tail.h"
#include "profiler/stats/quantity.h"

namespace icepath::explain {
namespace {

constexpr double kMargin = 1.5; // blocks differ: with just as many messages as are needed, half of the runs have fewer

// What is missing for an explanation; nothing: it has all.
std::optional<Finding> too_little(const TailOf &of, const TailExplanation &tail, stats::Percentile from)
{
	if (of.ranges.tail && tail.messages > 0 && of.ranges.tail->share_known() >= kEnoughKnown &&
		(tail.messages < kLeastTail || tail.blocks < kLeastTailBlocks)) {
		const double times = std::max(number(kLeastTail) / number(tail.messages),
									  number(kLeastTailBlocks) / number(std::max<size_t>(tail.blocks, 1)));
		return Finding{.id = FindingId::TailTooFewMessages,
					   .value = number(tail.messages),
					   .limit = number(kLeastTail),
					   .evidence = {{Fact::Blocks, number(tail.blocks)}},
					   .needed_s = longer_run_s(of.run_s, kMargin * times)};
	}
	if (!of.ranges.tail || !of.ranges.typical) {
		uint64_t needed = 1;
		while (!stats::supported(needed, from))
			needed *= 2;
		Finding missing{.id = FindingId::TailMissing, .value = number(of.messages), .limit = number(needed)};
		if (of.messages > 0 && of.messages < needed)
			missing.needed_s = longer_run_s(of.run_s, kMargin * number(needed) / number(of.messages));
		for (const stats::Percentile lower : {stats::Percentile{99'000}, {95'000}, {90'000}, {75'000}})
			if (lower.per_100000 < from.per_100000 && stats::supported(of.messages, lower) &&
				!missing.has(Fact::Percent))
				missing.evidence.push_back({Fact::Percent, lower.per_100000 / 1000.0});
		return missing;
	}
	std::optional<Finding> of_tail = too_few_known(FindingId::TailPathsUnknown, *of.ranges.tail);
	return of_tail ? of_tail : too_few_known(FindingId::TypicalPathsUnknown, *of.ranges.typical);
}

std::optional<bool> begins_alike(const std::optional<stats::Quantile> &one, const std::optional<stats::Quantile> &other)
{
	if (!one || !other || !one->interval || !other->interval)
		return std::nullopt;
	return one->interval->low <= other->interval->high && other->interval->low <= one->interval->high;
}

std::optional<UnprobedTail> tail_without_probes(const analysis::CellResult &cell, std::optional<bool> alike)
{
	if (!cell.ranges.tail_begin)
		return std::nullopt;
	const auto mode = std::ranges::find_if(
		cell.modes.all, [&](const analysis::CellMode &one) { return one.range.holds(cell.ranges.tail_begin->value); });
	if (mode == cell.modes.all.end() || (alike.value_or(true) && !mode->changed_by_probes()))
		return std::nullopt;
	UnprobedTail tail{static_cast<size_t>(mode - cell.modes.all.begin()), std::nullopt};
	for (ModeDifference &difference : mode_differences(cell)) {
		if (difference.slow != tail.mode)
			continue;
		for (const size_t one : {difference.slow, difference.fast})
			if (!tail.refusal) {
				tail.refusal = too_few_known(FindingId::ModePathsUnknown, cell.modes.all[one].range);
				if (tail.refusal)
					tail.refusal->evidence.push_back({Fact::Mode, number(one + 1)});
			}
		if (!tail.refusal)
			tail.than_fastest = std::move(difference);
	}
	return tail;
}

std::vector<CellOfOneMode> like_cells_without_modes(const analysis::RunResult &result, const analysis::CellResult &cell)
{
	std::vector<CellOfOneMode> same, others;
	for (const analysis::CellResult &other : result.cells) {
		model::Cell alike = other.cell;
		alike.wait = cell.cell.wait;
		if (!other.modes.all.empty() || !other.ranges.tail_begin || !analysis::unlike(cell.cell, alike).empty())
			continue;
		if (other.cell.target == cell.cell.target && other.cell.wait != cell.cell.wait)
			same.push_back({other.cell.target, other.cell.wait});
		else if (other.cell.target != cell.cell.target && other.cell.wait == cell.cell.wait)
			others.push_back({other.cell.target, {}});
	}
	same.insert(same.end(), others.begin(), others.end());
	return same;
}

} // namespace

std::optional<AgainstMode> against_mode(const analysis::RunResult &result, size_t index, const TailExplanation &tail)
{
	if (!tail.unprobed)
		return std::nullopt;
	const analysis::CellResult &cell = result.cells[index];
	AgainstMode against;
	if (const auto &slower = tail.unprobed->than_fastest) {
		against.remedies = remedies_of(slower->of, {}, cell, result.head);
		against.has_shares = slower->of.has_shares();
	}
	against.without_modes = like_cells_without_modes(result, cell);
	if (!against.without_modes.empty() && against.without_modes.front().wait)
		return against;
	for (const model::Wait wait : model::kWaits)
		if (wait != cell.cell.wait && cell.cell.offers && cell.cell.offers->waits.has(wait))
			against.waits_to_try.push_back(wait);
	return against;
}

namespace {

// What has a cause that the data tell, and the verdict.
void judge(TailExplanation &tail, const TailOf &tail_of)
{
	const auto whole_ns = static_cast<double>(tail.growth.of.ns());
	double named_ns = 0, by_kind_ns = 0, own_code_ns = 0, by_chance_ns = 0;
	for (const Cause &cause : tail.causes) {
		(cause.counts() ? named_ns : by_chance_ns) += std::max(cause.growth_ns, 0.0);
		if (cause.is_of_carrying_kind && !cause.is_told() && !cause.is_of_told_kind)
			by_kind_ns += std::max(cause.growth_ns, 0.0);
	}
	for (const KindDifference &kind : tail.growth.kinds)
		for (const DifferenceRow &row : kind.rows)
			if (is_own_code(row) && row.of.is_told() && row.of.ns() > 0)
				own_code_ns += static_cast<double>(row.of.ns());
	const auto share = [&](double ns) { return std::clamp(ns / whole_ns, 0.0, 1.0); };
	tail.own_code = share(own_code_ns);
	tail.named = share(named_ns + own_code_ns);
	tail.by_chance = share(by_chance_ns);
	tail.verdict = share(named_ns + own_code_ns - by_kind_ns) >= kExplained ? TailVerdict::Explained
				   : tail.named >= kExplained                               ? TailVerdict::ByKind
				   : tail.named >= kPartlyExplained                         ? TailVerdict::Partly
																			: TailVerdict::Unexplained;
	const DifferenceFigures &of = tail.growth.of;
	if (of.is_told())
		return;
	tail.verdict = TailVerdict::NotTold;
	if (!of.interval) {
		tail.refusal =
			Finding{.id = FindingId::GrowthOfTooFewBlocks,
					.value = whole_ns,
					.needed_s = longer_run_s(tail_of.run_s, times_until_interval(tail_of.ranges.tail->layers))};
		return;
	}
	// Every message of the tail takes at least as long as the tail's least, whatever blocks do.
	const double least_ns = static_cast<double>(tail.from_ns) - static_cast<double>(of.b_ns);
	stats::Interval between = *of.interval;
	between.low = std::max(between.low, std::min(least_ns, whole_ns));
	const double times = std::ceil(times_as_long(whole_ns, *of.interval).value_or(1));
	tail.refusal = Finding{.id = least_ns > 0 ? FindingId::GrowthSizeUnknown : FindingId::GrowthMayBeNone,
						   .value = whole_ns,
						   .interval = least_ns > 0 ? between : *of.interval,
						   .needed_s = longer_run_s(tail_of.run_s, times)};
}

// `causes`: also those without a name.
TailExplanation explained(const TailOf &of, stats::Percentile from, std::vector<Cause> &causes)
{
	TailExplanation result;
	if (of.ranges.tail) {
		result.messages = of.ranges.tail->layers.deliveries();
		result.from_ns = of.ranges.tail->from_ns;
		result.blocks = of.ranges.tail->layers.blocks_with_deliveries();
		result.most_of_one_block = of.ranges.tail->layers.most_of_one_block();
	}
	result.of_blocks = of.blocks;
	result.refusal = too_little(of, result, from);
	if (result.refusal)
		return result;
	Difference growth = compare({of.ranges.tail->layers, of.code}, {of.ranges.typical->layers, of.code});
	if (growth.of.ns() <= 0) {
		result.refusal = Finding{.id = FindingId::TailNotSlower};
		return result;
	}
	result.growth = std::move(growth);
	causes = causes_of({of.ranges.tail_culprits, of.ranges.tail->layers},
					   {of.ranges.typical_culprits, of.ranges.typical->layers});
	// Records show who had the CPU. So where a large part of the growth is the time of one kind, and blocks agree that
	// it is longer, the kind isn't there by chance, though which of them it is may be.
	for (Cause &cause : causes)
		cause.is_of_carrying_kind =
			cause.kind_growth_ns.value_or(0) >= kPartlyExplained * static_cast<double>(result.growth.of.ns());
	std::ranges::copy_if(causes, std::back_inserter(result.causes), &Cause::has_name);
	judge(result, of);
	return result;
}

// How many times as long until the cause is told, if blocks go on like these. Nothing if no run may tell it.
std::optional<double> times_until_told(const Cause &cause)
{
	if (!cause.growth_interval || !cause.more_often || cause.share <= cause.other_share)
		return std::nullopt;
	const auto growth = times_as_long(cause.growth_ns, *cause.growth_interval);
	const auto more_often = times_as_long(cause.share - cause.other_share, *cause.more_often);
	return growth && more_often ? std::optional(std::max(*growth, *more_often)) : std::nullopt;
}

// How many times as long until those are told that have most of the time, if blocks go on like these.
std::optional<double> times_until_most_told(const std::vector<Cause> &greatest_first)
{
	double all_ns = 0, told_ns = 0;
	for (const Cause &cause : greatest_first)
		all_ns += cause.growth_ns;
	std::optional<double> most;
	for (const Cause &cause : greatest_first) {
		const auto times = times_until_told(cause);
		if (!times)
			return std::nullopt;
		most = std::max(most.value_or(0), *times);
		told_ns += cause.growth_ns;
		if (2 * told_ns >= all_ns)
			break;
	}
	return most;
}

// What would tell more about the growth that isn't explained: of each reason a tenth of it or more.
void add_what_would_tell(TailExplanation &tail, const std::vector<Cause> &causes, const analysis::CellResult &cell,
						 double run_s)
{
	constexpr double kWorthTelling = 0.1;
	if (tail.verdict != TailVerdict::Partly && tail.verdict != TailVerdict::Unexplained)
		return;
	const auto whole_ns = static_cast<double>(tail.growth.of.ns());
	double unknown_ns = 0;
	for (const Cause &cause : causes)
		if (!cause.has_name() && cause.counts())
			unknown_ns += std::max(cause.growth_ns, 0.0);
	std::vector<Cause> by_chance; // the greatest first
	std::ranges::copy_if(tail.causes, std::back_inserter(by_chance),
						 [](const Cause &cause) { return !cause.counts() && cause.growth_ns > 0; });
	if (tail.by_chance >= kWorthTelling && !by_chance.empty()) {
		Remedy remedy{.id = RemedyId::ByChance,
					  .share = tail.by_chance,
					  .ns = tail.by_chance * whole_ns,
					  .ways = {Way::MeasureLonger},
					  .of = some_names_of(by_chance)};
		if (const auto times = times_until_most_told(by_chance))
			remedy.needed_s = longer_run_s(run_s, kMargin * std::max(*times, 1.0));
		tail.remedies.push_back(std::move(remedy));
	}
	const double rest = 1 - tail.named - tail.by_chance - unknown_ns / whole_ns;
	if (rest >= kWorthTelling)
		tail.remedies.push_back({.id = RemedyId::NoCause,
								 .share = rest,
								 .ns = rest * whole_ns,
								 .ways = {cell.functions.samples() > 0 ? Way::ReadStacks : Way::SampleStacks}});
}

} // namespace

std::optional<double> times_as_long(double value, const stats::Interval &interval)
{
	if (value == 0)
		return std::nullopt;
	const double half = (interval.high - interval.low) / 2 / value;
	return half * half;
}

double times_until_interval(const analysis::Breakdown &layers)
{
	const stats::WeightedBlocks blocks = layers.blocks();
	std::set<uint32_t> openings;
	for (size_t i = 0; i < blocks.weights.size(); ++i)
		if (blocks.weights[i] > 0)
			openings.insert(blocks.clusters[i]);
	return kMargin *
		   std::max(number(stats::kBlocksBeyond) / number(std::max<size_t>(layers.blocks_with_deliveries(), 1)),
					number(stats::kMinBlocks) / number(std::max<size_t>(openings.size(), 1)));
}

TailExplanation explain_tail(const TailOf &of, stats::Percentile from)
{
	std::vector<Cause> causes;
	return explained(of, from, causes);
}

TailExplanation explain_tail(const analysis::CellResult &cell, const model::Head &head, stats::Percentile from)
{
	std::vector<Cause> causes;
	TailExplanation result =
		explained({cell.ranges, cell.paths.deliveries, cell.blocks.probed, head.budget_s, cell.code()}, from, causes);
	result.as_without_probes = begins_alike(cell.ranges.tail_begin, cell.ranges.tail_begin_probed);
	result.unprobed = tail_without_probes(cell, result.as_without_probes);
	if (result.is_explained()) {
		result.remedies = remedies_of(result.growth, causes, cell, head);
		add_what_would_tell(result, causes, cell, head.budget_s);
	}
	return result;
}

} // namespace icepath::explain
