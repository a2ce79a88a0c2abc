// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/tail_summary.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "profiler/stats/percentile.h"

namespace icepath::explain {
namespace {

constexpr double kWorthARow = 0.1; // of a tail's growth

// Parts of a cell's growth by cause: (own code, origin, name).
using Parts = std::map<std::tuple<bool, std::optional<analysis::Origin>, std::string>, double>;

Parts parts_of(const TailExplanation &tail)
{
	Parts parts;
	const auto whole_ns = static_cast<double>(tail.growth.of.ns());
	for (const Cause &cause : tail.causes)
		if (cause.counts())
			parts[{false, cause.origin, cause.is_told() ? cause.name : ""}] += cause.growth_ns / whole_ns;
	if (tail.own_code > 0)
		parts[{true, std::nullopt, ""}] = tail.own_code;
	if (tail.named < 1)
		parts[{false, std::nullopt, ""}] = 1 - tail.named;
	return parts;
}

bool is_told(const TailExplanation &tail)
{
	return tail.verdict != TailVerdict::TooFew && tail.verdict != TailVerdict::NotTold;
}

double times_typical(const TailExplanation &tail)
{
	const DifferenceFigures &of = tail.growth.of;
	return of.b_ns > 0 ? static_cast<double>(of.a_ns) / static_cast<double>(of.b_ns) : 0;
}

std::vector<CauseOfTails> causes_of_all(const std::vector<size_t> &cells, const std::vector<TailExplanation> &tails)
{
	std::map<Parts::key_type, std::vector<std::pair<double, size_t>>> by_cause; // shares and cells
	for (size_t i = 0; i < tails.size(); ++i)
		if (is_told(tails[i]))
			for (const auto &[cause, share] : parts_of(tails[i]))
				if (share >= kWorthARow)
					by_cause[cause].emplace_back(std::min(share, 1.0), cells[i]);
	std::vector<CauseOfTails> causes;
	for (auto &[key, shares] : by_cause) {
		CauseOfTails &cause = causes.emplace_back();
		std::tie(cause.is_own_code, cause.origin, cause.name) = key;
		std::ranges::sort(shares, std::ranges::greater());
		for (const auto &[share, cell] : shares) {
			cause.shares.push_back(share);
			cause.cells.push_back(cell);
		}
	}
	std::ranges::stable_sort(causes, std::ranges::greater(), [](const CauseOfTails &one) { return one.cells.size(); });
	return causes;
}

} // namespace

TailSummary summary_of(const std::vector<size_t> &cells, const std::vector<TailExplanation> &tails)
{
	TailSummary summary;
	std::vector<double> times;
	std::map<RemedyId, RemedyOfTails> remedies;
	for (size_t i = 0; i < tails.size(); ++i) {
		const TailExplanation &tail = tails[i];
		summary.verdicts.at(static_cast<size_t>(tail.verdict))++;
		if (!is_told(tail))
			continue;
		times.push_back(times_typical(tail));
		for (const Remedy &remedy : tail.remedies) {
			RemedyOfTails &of = remedies[remedy.id];
			if (of.cells == 0 || remedy.share > of.largest_share) {
				of.remedy = remedy;
				of.cell = cells[i];
			}
			++of.cells;
			of.least_share = std::min(of.least_share, remedy.share);
			of.largest_share = std::max(of.largest_share, std::min(remedy.share, 1.0));
		}
	}
	summary.causes = causes_of_all(cells, tails);
	for (auto &[id, of] : remedies)
		summary.remedies.push_back(std::move(of));
	std::ranges::stable_sort(summary.remedies, std::ranges::greater(),
							 [](const RemedyOfTails &of) { return std::pair(of.cells, of.largest_share); });
	if (times.empty())
		return summary;
	summary.median_times = stats::median(times);
	for (size_t i = 0; i < tails.size(); ++i)
		if (is_told(tails[i]) && times_typical(tails[i]) > kUnlike * *summary.median_times)
			summary.unlike.emplace_back(cells[i], times_typical(tails[i]));
	std::ranges::stable_sort(summary.unlike, std::ranges::greater(), &std::pair<size_t, double>::second);
	return summary;
}

} // namespace icepath::explain
