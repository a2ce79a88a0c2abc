// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_interval.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "profiler/stats/redrawn_run.h"
#include "profiler/stats/student_t.h"

namespace icepath::stats {
namespace {

// How far one statistic of the redrawn runs is spread, on a logarithmic scale.
class Spread {
public:
	// Below `least`, a value isn't told from it: zero has no logarithm.
	void add(double value, double least)
	{
		// Welford's update.
		const double log = std::log(std::max(value, least)), delta = log - mean_;
		mean_ += delta / ++count_;
		squares_ += delta * (log - mean_);
	}

	std::optional<Interval> around(double value, size_t blocks) const
	{
		const double count = static_cast<double>(blocks);
		const double factor = t_975(count - 1) * std::sqrt(count / (count - 1));
		const double half = factor * std::sqrt(squares_ / (count_ - 1));
		// Nothing is a factor of zero: where the value is 0 and some blocks say otherwise, there is no interval.
		if (half > std::log(kWidest) || (value == 0 && half > 0))
			return std::nullopt;
		return Interval{value * std::exp(-half), value * std::exp(half)};
	}

private:
	double count_ = 0, mean_ = 0, squares_ = 0;
};

constexpr double kNanosecond = 1, kPicosecond = 1e-3; // nothing is measured finer than the first

void add_intervals(Distribution &result, const RedrawnRun &pool)
{
	const size_t blocks = pool.blocks();
	std::array<Spread, kReported.size()> percentiles;
	Spread standard_deviation, median_deviation;
	// The standard fixes mt19937's numbers but not those of its distributions, so the draw is by multiplication.
	std::mt19937 random(20010101);
	Weights weights(blocks);
	for (unsigned replicate = 0; replicate < kReplicates; ++replicate) {
		std::fill(weights.begin(), weights.end(), 0);
		for (size_t i = 0; i < blocks; ++i)
			++weights[static_cast<size_t>(uint64_t{random()} * blocks >> 32)];
		std::array<uint64_t, kReported.size()> values{};
		for (size_t q = 0; q < kReported.size() && result.percentiles[q]; ++q) {
			values[q] = pool.percentile(weights, kReported[q]);
			percentiles[q].add(static_cast<double>(values[q]), kNanosecond);
		}
		standard_deviation.add(pool.standard_deviation(weights), kPicosecond);
		static_assert(kReported[0] == kP50);
		if (result.median_deviation)
			median_deviation.add(
				static_cast<double>(pool.median_deviation(weights, values[0], *result.median_deviation)), kNanosecond);
	}
	for (size_t q = 0; q < kReported.size() && result.percentiles[q]; ++q) // ascending: none comes after a missing one
		result.intervals[q] = percentiles[q].around(static_cast<double>(*result.percentiles[q]), blocks);
	if (result.standard_deviation)
		result.standard_deviation_interval = standard_deviation.around(*result.standard_deviation, blocks);
	if (result.median_deviation)
		result.median_deviation_interval =
			median_deviation.around(static_cast<double>(*result.median_deviation), blocks);
}

} // namespace

Distribution describe(const std::vector<std::vector<uint64_t>> &blocks)
{
	const RedrawnRun pool(blocks);
	Distribution result;
	result.count = pool.values();
	result.blocks = pool.blocks();
	if (result.count == 0)
		return result;
	result.min = pool.at(0);
	result.max = pool.at(result.count - 1);
	result.mean = pool.mean();
	for (size_t q = 0; q < kReported.size(); ++q)
		if (supported(result.count, kReported[q]))
			result.percentiles[q] = pool.at(rank(result.count, kReported[q]) - 1);
	const Weights as_measured(pool.blocks(), 1);
	if (result.count >= 2)
		result.standard_deviation = pool.standard_deviation(as_measured);
	if (result.percentiles[0])
		result.median_deviation = pool.median_deviation(as_measured, *result.percentiles[0], 0);
	if (result.blocks >= kMinBlocks)
		add_intervals(result, pool);
	return result;
}

} // namespace icepath::stats
