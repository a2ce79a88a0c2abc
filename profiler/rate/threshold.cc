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
		for (size_t place = 0; place < held.size(); ++place) {
			const int distance = static_cast<int>(place) - kFar;
			const double holds = 1 / (1 + std::exp(static_cast<double>(distance) / kPerLevel / width));
			const double p = kByLuck + (1 - kByLuck - disturbed) * holds;
			held[place] = std::log(p);
			failed[place] = std::log1p(-p);
		}
	}
	double log_of(const Tally &tally, int distance) const
	{
		const int at = std::clamp(distance, -kFar, kFar) + kFar;
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
	const int levels = last - first + 1;
	const auto places = static_cast<size_t>(levels);
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

namespace {

constexpr double kBaseHz = 10'000;
constexpr double kLowestHz = 1000, kHighestHz = 2e6;
constexpr uint64_t kShortestBlockNs = 20'000'000; // shorter ones may end before the scheduler has acted
constexpr double kRoom = 200'000; // messages of a block: 51 MB of memory for each cell
constexpr int kMostLevels = 1000; // from 10 kHz: 71 octaves

int level_within(double hz, double rounding(double))
{
	const double level = rounding(std::log2(hz / kBaseHz) * kLevelsPerOctave);
	return static_cast<int>(std::clamp(level, -1.0 * kMostLevels, 1.0 * kMostLevels));
}

} // namespace

double hz_of(int level) { return kBaseHz * std::exp2(static_cast<double>(level) / kLevelsPerOctave); }

int level_of(double hz) { return level_within(hz, std::round); }

Terms terms_of(const model::Cell &cell)
{
	const model::RateLimits limits = cell.limits.value_or(model::RateLimits{});
	Terms terms;
	const double step = std::exp2(1.0 / kLevelsPerOctave) - 1;
	constexpr double kMargin = 1.1; // 1 % of the messages must exceed the limit, not only the last one
	const double passed_ns = kMargin * static_cast<double>(limits.max_p99_ns) / step;
	terms.block_ns = std::max(kShortestBlockNs, static_cast<uint64_t>(passed_ns));
	terms.least_messages = static_cast<uint32_t>(std::min(kRoom, std::ceil(1000 / (1 - limits.max_loss))));
	double highest_hz = std::min(kHighestHz, kRoom * 1e9 / static_cast<double>(terms.block_ns));
	// An injected delay bounds the rate; faster blocks would leave the receiver with seconds of work.
	const uint64_t busy_ns = std::max(cell.levels.sender_user_ns, cell.levels.receiver_busy_ns);
	if (busy_ns > 0)
		highest_hz = std::min(highest_hz, 2e9 / static_cast<double>(busy_ns));
	terms.lowest = level_within(kLowestHz, std::ceil);
	terms.highest = std::max(terms.lowest, level_within(highest_hz, std::floor));
	return terms;
}

uint32_t messages_at(const Terms &terms, double hz)
{
	const double fill = std::ceil(hz * static_cast<double>(terms.block_ns) / 1e9);
	return std::max(terms.least_messages, static_cast<uint32_t>(std::min(fill, kRoom)));
}

uint64_t scheduled_ns(uint32_t messages, double hz) { return static_cast<uint64_t>(messages * 1e9 / hz); }

} // namespace icepath::rate
