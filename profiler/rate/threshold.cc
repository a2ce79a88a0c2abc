// SPDX-License-Identifier: Apache-2.0
#include "profiler/rate/threshold.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace icepath::rate {
namespace {

constexpr int kPerLevel = 2; // resolution of thresholds
constexpr int kBeyond = kLevelsPerOctave;
constexpr std::array kWidths = {0.15, 0.4, 1.0, 2.0, 4.0}; // levels
constexpr std::array kDisturbed = {0.01, 0.05, 0.15, 0.3}; // shares of blocks
constexpr double kByLuck = 0.01; // share of blocks that hold although the rate is too high

// Log-probabilities that a block holds and fails, by the distance from the threshold. They are flat beyond 12 widths.
constexpr int kFar = 12 * 4 * kPerLevel; // 12 of the largest width
struct Curve {
	std::array<double, 2 * kFar + 1> held{}, failed{};

	Curve(double width, double disturbed)
	{
		for (int distance = -kFar; distance <= kFar; ++distance) {
			const double holds = 1 / (1 + std::exp(static_cast<double>(distance) / kPerLevel / width));
			const double p = kByLuck + (1 - kByLuck - disturbed) * holds;
			held[static_cast<size_t>(distance + kFar)] = std::log(p);
			failed[static_cast<size_t>(distance + kFar)] = std::log1p(-p);
		}
	}
	double log_of(const Tally &tally, int distance) const
	{
		const auto at = static_cast<size_t>(std::clamp(distance, -kFar, kFar) + kFar);
		return tally.held * held[at] + (tally.blocks - tally.held) * failed[at];
	}
};

const std::vector<Curve> &curves()
{
	static const std::vector<Curve> all = [] {
		std::vector<Curve> made;
		for (const double width : kWidths)
			for (const double disturbed : kDisturbed)
				made.emplace_back(width, disturbed);
		return made;
	}();
	return all;
}

} // namespace

Threshold estimate(const Tallies &tallies, const Terms &terms)
{
	const int first = (terms.lowest - kBeyond) * kPerLevel, last = (terms.highest + kBeyond) * kPerLevel;
	const auto places = static_cast<size_t>(last - first + 1);
	const auto threshold_at = [&](size_t place) { return (first + static_cast<double>(place)) / kPerLevel; };
	std::vector<double> logs; // log-likelihoods of the blocks, by curve and by threshold
	for (const Curve &curve : curves())
		for (int place = first; place <= last; ++place) {
			double sum = 0;
			for (const auto &[level, tally] : tallies)
				sum += curve.log_of(tally, level * kPerLevel - place);
			logs.push_back(sum);
		}
	const double most = *std::ranges::max_element(logs);
	std::vector<double> weights(places, 0);
	double total = 0;
	for (size_t i = 0; i < logs.size(); ++i) {
		const double weight = std::exp(logs[i] - most);
		weights[i % places] += weight;
		total += weight;
	}
	// Each place stands for an interval around it, in which the weight is uniform.
	const auto quantile = [&](double share) {
		double below = 0;
		for (size_t place = 0; place < places; ++place) {
			const double more = weights[place] / total;
			if (below + more >= share)
				return threshold_at(place) + ((share - below) / more - 0.5) / kPerLevel;
			below += more;
		}
		return threshold_at(places - 1);
	};
	return {quantile(0.5), quantile(0.025), quantile(0.975)};
}

} // namespace icepath::rate
