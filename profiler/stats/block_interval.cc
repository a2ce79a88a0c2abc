// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_interval.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "profiler/stats/far_tail.h"
#include "profiler/stats/percentile_interval.h"
#include "profiler/stats/redrawn_run.h"
#include "profiler/stats/slow_changes.h"

namespace icepath::stats {
namespace {

// Spread of one statistic over the redrawn runs, on a logarithmic scale.
class Redrawn {
public:
	// Values below `least` count as `least`: zero has no logarithm.
	explicit Redrawn(double least) : least_(least) {}

	void add(double value)
	{
		// Welford's update.
		const double log = std::log(std::max(value, least_)), delta = log - mean_;
		mean_ += delta / ++count_;
		squares_ += delta * (log - mean_);
	}

	// `clusters`: how many each run was redrawn from. 0 if there are no runs.
	double variance(size_t clusters) const
	{
		const double count = static_cast<double>(clusters);
		return count_ > 1 ? squares_ / (count_ - 1) * count / (count - 1) : 0;
	}

	Interval around(double value, double half) const
	{
		if (half == 0)
			return {value, value};
		return {value * std::exp(-half), std::max(value, least_) * std::exp(half)};
	}

private:
	double least_, count_ = 0, mean_ = 0, squares_ = 0;
};

constexpr double kNanosecond = 1, kPicosecond = 1e-3; // stamps have a resolution of 1 ns

Clusters clusters_of(const std::vector<std::vector<uint64_t>> &blocks, const std::vector<uint32_t> &numbers)
{
	std::vector<uint32_t> of_those_with_a_value;
	for (size_t i = 0; i < numbers.size(); ++i)
		if (!blocks.at(i).empty())
			of_those_with_a_value.push_back(numbers[i]);
	return numbered(of_those_with_a_value, static_cast<size_t>(std::ranges::count_if(
											   blocks, [](const auto &block) { return !block.empty(); })));
}

// Those of kReported whose interval comes from the bootstrap.
constexpr size_t kNear = 3;
static_assert(!is_far(kReported[kNear - 1]) && is_far(kReported[kNear]));

// Statistics whose interval comes from the bootstrap.
struct RedrawnStatistics {
	std::array<Redrawn, kNear> percentiles{Redrawn(kNanosecond), Redrawn(kNanosecond), Redrawn(kNanosecond)};
	Redrawn standard_deviation{kPicosecond}, median_deviation{kNanosecond};
};

// `distribution` has the statistics of the run itself.
RedrawnStatistics redraw(const RedrawnRun &pool, const Clusters &clusters, const Distribution &distribution)
{
	RedrawnStatistics found;
	if (clusters.count == 0)
		return found;
	Redraw redraw(clusters);
	for (unsigned replicate = 0; replicate < kReplicates; ++replicate) {
		const Weights &weights = redraw.next();
		std::array<uint64_t, kNear> values{};
		for (size_t q = 0; q < kNear && distribution.percentiles[q]; ++q) {
			values[q] = pool.percentile(weights, kReported[q]);
			found.percentiles[q].add(static_cast<double>(values[q]));
		}
		found.standard_deviation.add(pool.standard_deviation(weights));
		static_assert(kReported[0] == kP50);
		if (distribution.median_deviation)
			found.median_deviation.add(
				static_cast<double>(pool.median_deviation(weights, values[0], *distribution.median_deviation)));
	}
	return found;
}

void add_redrawn_intervals(Distribution &result, const RedrawnRun &pool, const Clusters &clusters, double outside_p50)
{
	const Clusters stretches = stretches_of(clusters);
	const RedrawnStatistics found = redraw(pool, clusters, result), slow = redraw(pool, stretches, result);
	// `effective`: the number of clusters that determine the value.
	const auto interval = [&](const Redrawn &by_cluster, const Redrawn &by_stretch, double value, double effective,
							  double outside = 0.05) {
		const Spread spread = with_slow_changes(by_cluster.variance(clusters.count), effective - 1, clusters.count,
												by_stretch.variance(stretches.count), stretches.count);
		return by_cluster.around(value, spread.half_width(outside));
	};
	const auto all = static_cast<double>(clusters.count);
	for (size_t q = 0; q < kNear && result.percentiles[q]; ++q) { // ascending: after a missing one all are missing
		const bool is_p50 = kReported[q] == kP50;
		result.intervals[q] =
			is_p50 && clusters.count >= kLeastForShares
				? interval_by_shares(pool, kP50, clusters, outside_p50)
				: interval(found.percentiles[q], slow.percentiles[q], static_cast<double>(*result.percentiles[q]),
						   is_p50 ? all : effective_clusters(pool, kReported[q], clusters),
						   is_p50 ? outside_p50 : 0.05);
	}
	if (result.standard_deviation)
		result.standard_deviation_interval =
			interval(found.standard_deviation, slow.standard_deviation, *result.standard_deviation, all);
	if (result.median_deviation)
		result.median_deviation_interval =
			interval(found.median_deviation, slow.median_deviation, static_cast<double>(*result.median_deviation), all);
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

double mean_by_block(const std::vector<std::vector<uint64_t>> &blocks, uint64_t with_values)
{
	double sum = 0;
	for (const std::vector<uint64_t> &block : blocks)
		if (!block.empty())
			sum += std::accumulate(block.begin(), block.end(), 0.0) / static_cast<double>(block.size());
	return sum / static_cast<double>(with_values);
}

} // namespace

Distribution describe(const std::vector<std::vector<uint64_t>> &blocks, const std::vector<uint32_t> &cluster_numbers,
					  double outside_p50)
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
	result.mean_by_block = mean_by_block(blocks, result.blocks);
	const bool enough_clusters = result.clusters >= kMinBlocks;
	if (enough_clusters)
		add_percentiles(result, pool, clusters);
	const Weights as_measured(pool.blocks(), 1);
	if (result.count >= 2)
		result.standard_deviation = pool.standard_deviation(as_measured);
	if (result.percentiles[0])
		result.median_deviation = pool.median_deviation(as_measured, *result.percentiles[0], 0);
	if (enough_clusters)
		add_redrawn_intervals(result, pool, clusters, outside_p50);
	return result;
}

std::optional<Quantile> quantile(const std::vector<std::vector<uint64_t>> &blocks, Percentile p,
								 const std::vector<uint32_t> &cluster_numbers)
{
	const RedrawnRun pool(blocks);
	if (!supported(pool.values(), p))
		return std::nullopt;
	const Clusters clusters = clusters_of(blocks, cluster_numbers);
	Quantile result{pool.at(rank(pool.values(), p) - 1), std::nullopt};
	if (clusters.count < kMinBlocks || !enough_beyond(pool, p, clusters))
		return result;
	const bool by_shares = p == kP50 && clusters.count >= kLeastForShares;
	if (by_shares || is_far(p)) {
		result.interval = by_shares ? interval_by_shares(pool, p, clusters) : far_interval(pool, p, clusters);
		return result;
	}
	const auto redrawn = [&](const Clusters &drawn_together) {
		Redrawn found(kNanosecond);
		if (drawn_together.count == 0)
			return found;
		Redraw redraw(drawn_together);
		for (unsigned replicate = 0; replicate < kReplicates; ++replicate)
			found.add(static_cast<double>(pool.percentile(redraw.next(), p)));
		return found;
	};
	const Clusters stretches = stretches_of(clusters);
	const Redrawn by_cluster = redrawn(clusters), by_stretch = redrawn(stretches);
	const double effective = p == kP50 ? static_cast<double>(clusters.count) : effective_clusters(pool, p, clusters);
	result.interval =
		by_cluster.around(static_cast<double>(result.value),
						  with_slow_changes(by_cluster.variance(clusters.count), effective - 1, clusters.count,
											by_stretch.variance(stretches.count), stretches.count)
							  .half_width());
	return result;
}

} // namespace icepath::stats
