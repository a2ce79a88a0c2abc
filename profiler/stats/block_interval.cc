// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_interval.h"

#include <algorithm>
#include <cmath>

#include "profiler/stats/far_tail.h"
#include "profiler/stats/redrawn_run.h"
#include "profiler/stats/student_t.h"

namespace icepath::stats {
namespace {

// How far one statistic of the redrawn runs is spread, on a logarithmic scale.
class Spread {
public:
	// Below `least`, a value isn't told from it: zero has no logarithm.
	explicit Spread(double least) : least_(least) {}

	void add(double value)
	{
		// Welford's update.
		const double log = std::log(std::max(value, least_)), delta = log - mean_;
		mean_ += delta / ++count_;
		squares_ += delta * (log - mean_);
	}

	// Of so many clusters, of which `effective` made the value what it is.
	Interval around(double value, size_t clusters, double effective) const
	{
		const double count = static_cast<double>(clusters);
		const double factor = t_975(std::max(1.0, effective - 1)) * std::sqrt(count / (count - 1));
		const double half = factor * std::sqrt(squares_ / (count_ - 1));
		if (half == 0)
			return {value, value};
		return {value * std::exp(-half), std::max(value, least_) * std::exp(half)};
	}

private:
	double least_, count_ = 0, mean_ = 0, squares_ = 0;
};

constexpr double kNanosecond = 1, kPicosecond = 1e-3; // nothing is measured finer than the first

Clusters clusters_of(const std::vector<std::vector<uint64_t>> &blocks, const std::vector<uint32_t> &numbers)
{
	std::vector<uint32_t> of_those_with_a_value;
	for (size_t i = 0; i < numbers.size(); ++i)
		if (!blocks.at(i).empty())
			of_those_with_a_value.push_back(numbers[i]);
	return numbered(of_those_with_a_value, static_cast<size_t>(std::ranges::count_if(
											   blocks, [](const auto &block) { return !block.empty(); })));
}

// Of kReported those that a bootstrap tells.
constexpr size_t kNear = 3;
static_assert(!is_far(kReported[kNear - 1]) && is_far(kReported[kNear]));

void add_redrawn_intervals(Distribution &result, const RedrawnRun &pool, const Clusters &clusters)
{
	std::array<Spread, kNear> percentiles{Spread(kNanosecond), Spread(kNanosecond), Spread(kNanosecond)};
	Spread standard_deviation(kPicosecond), median_deviation(kNanosecond);
	Redraw redraw(clusters);
	for (unsigned replicate = 0; replicate < kReplicates; ++replicate) {
		const Weights &weights = redraw.next();
		std::array<uint64_t, kNear> values{};
		for (size_t q = 0; q < kNear && result.percentiles[q]; ++q) {
			values[q] = pool.percentile(weights, kReported[q]);
			percentiles[q].add(static_cast<double>(values[q]));
		}
		standard_deviation.add(pool.standard_deviation(weights));
		static_assert(kReported[0] == kP50);
		if (result.median_deviation)
			median_deviation.add(
				static_cast<double>(pool.median_deviation(weights, values[0], *result.median_deviation)));
	}
	const auto all = static_cast<double>(clusters.count);
	for (size_t q = 0; q < kNear && result.percentiles[q]; ++q) // ascending: none comes after a missing one
		result.intervals[q] =
			percentiles[q].around(static_cast<double>(*result.percentiles[q]), clusters.count,
								  kReported[q] == kP50 ? all : effective_clusters(pool, kReported[q], clusters));
	if (result.standard_deviation)
		result.standard_deviation_interval = standard_deviation.around(*result.standard_deviation, clusters.count, all);
	if (result.median_deviation)
		result.median_deviation_interval =
			median_deviation.around(static_cast<double>(*result.median_deviation), clusters.count, all);
}

void add_percentiles(Distribution &result, const RedrawnRun &pool, const Clusters &clusters)
{
	for (size_t q = 0; q < kReported.size(); ++q) {
		if (!supported(result.count, kReported[q]) || !enough_beyond(pool, kReported[q], clusters))
			return;
		if (is_far(kReported[q]) && !(result.intervals[q] = far_interval(pool, kReported[q], clusters)))
			return;
		result.percentiles[q] = pool.at(rank(result.count, kReported[q]) - 1);
	}
}

} // namespace

Distribution describe(const std::vector<std::vector<uint64_t>> &blocks, const std::vector<uint32_t> &cluster_numbers)
{
	const RedrawnRun pool(blocks);
	const Clusters clusters = clusters_of(blocks, cluster_numbers);
	Distribution result;
	result.count = pool.values();
	result.blocks = pool.blocks();
	result.clusters = clusters.count;
	if (result.count == 0)
		return result;
	result.min = pool.at(0);
	result.max = pool.at(result.count - 1);
	result.mean = pool.mean();
	const bool enough_clusters = result.clusters >= kMinBlocks;
	if (enough_clusters)
		add_percentiles(result, pool, clusters);
	const Weights as_measured(pool.blocks(), 1);
	if (result.count >= 2)
		result.standard_deviation = pool.standard_deviation(as_measured);
	if (result.percentiles[0])
		result.median_deviation = pool.median_deviation(as_measured, *result.percentiles[0], 0);
	if (enough_clusters)
		add_redrawn_intervals(result, pool, clusters);
	return result;
}

} // namespace icepath::stats
