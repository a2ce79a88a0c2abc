// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_interval.h"

#include <algorithm>
#include <cmath>

#include "profiler/stats/block_ratio.h"
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

Clusters clusters_of(const BlockValues &values, ClusteredBy clustered)
{
	return numbered(clustered == ClusteredBy::Opening ? values.openings() : std::vector<uint32_t>(),
					values.blocks().size());
}

// The first kNear of kReported take their interval from the bootstrap, the p50 only with few clusters.
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

// An interval includes whatever its ends may be.
Interval widened(const Interval &interval, double below, double above)
{
	return {std::max(0.0, interval.low - below), interval.high + above};
}

// A p99 isn't below the p50, so its interval doesn't begin before the p50's either.
void begin_in_order(std::array<std::optional<Interval>, kReported.size()> &intervals)
{
	for (size_t q = 1; q < intervals.size() && intervals[q]; ++q)
		intervals[q]->low = std::max(intervals[q]->low, intervals[q - 1]->low);
}

void add_what_is_off(Distribution &result, double off)
{
	result.off = off;
	if (off == 0)
		return;
	for (std::optional<Interval> &interval : result.intervals)
		if (interval)
			interval = widened(*interval, off * interval->low, off * interval->high);
	if (std::optional<Interval> &interval = result.median_deviation_interval) {
		const double twice_p50 = 2 * static_cast<double>(*result.percentiles[0]);
		interval = widened(*interval, off * (twice_p50 + interval->low), off * (twice_p50 + interval->high));
	}
}

} // namespace

Distribution describe(const BlockValues &values, ClusteredBy clustered, double outside_p50)
{
	const RedrawnRun pool(values);
	const Clusters clusters = clusters_of(values, clustered);
	Distribution result;
	result.count = values.count();
	result.blocks = values.measured_blocks();
	result.clusters = clusters.count;
	if (result.count == 0)
		return result;
	result.min = values.min();
	result.max = values.max();
	result.mean = values.sum() / static_cast<double>(result.count);
	result.mean_by_block = values.mean_by_block();
	const bool enough_clusters = result.clusters >= kMinBlocks;
	if (enough_clusters)
		add_percentiles(result, pool, clusters);
	const Weights as_measured(pool.blocks(), 1);
	if (result.count >= 2)
		result.standard_deviation = pool.standard_deviation(as_measured);
	if (result.percentiles[0])
		result.median_deviation = pool.median_deviation(as_measured, *result.percentiles[0], 0);
	if (enough_clusters) {
		add_redrawn_intervals(result, pool, clusters, outside_p50);
		begin_in_order(result.intervals);
	}
	add_what_is_off(result, pool.off());
	return result;
}

Distribution describe(const std::vector<std::vector<uint64_t>> &blocks, const std::vector<uint32_t> &clusters,
					  double outside_p50)
{
	return describe(kept_values(blocks, clusters), clusters.empty() ? ClusteredBy::Block : ClusteredBy::Opening,
					outside_p50);
}

std::optional<Interval> mean_interval(const BlockValues &values, ClusteredBy clustered)
{
	std::vector<double> counts, sums;
	for (const BlockValues::Block &block : values.blocks()) {
		counts.push_back(block.moments.count);
		sums.push_back(block.moments.count * block.moments.mean);
	}
	const bool by_opening = clustered == ClusteredBy::Opening;
	return RedrawnMeans(std::move(counts), by_opening ? values.openings() : std::vector<uint32_t>()).interval(sums);
}

namespace {

std::optional<Interval> interval_of(const RedrawnRun &pool, Percentile p, uint64_t value, const Clusters &clusters)
{
	if (clusters.count < kMinBlocks || !enough_beyond(pool, p, clusters))
		return std::nullopt;
	if (is_far(p))
		return far_interval(pool, p, clusters);
	if (p == kP50 && clusters.count >= kLeastForShares)
		return interval_by_shares(pool, p, clusters);
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
	return by_cluster.around(static_cast<double>(value),
							 with_slow_changes(by_cluster.variance(clusters.count), effective - 1, clusters.count,
											   by_stretch.variance(stretches.count), stretches.count)
								 .half_width());
}

} // namespace

std::optional<Quantile> quantile(const BlockValues &values, Percentile p, ClusteredBy clustered,
								 const Distribution &described)
{
	for (size_t q = 0; q < kReported.size(); ++q)
		if (kReported[q] == p && described.percentiles[q])
			return Quantile{*described.percentiles[q], described.intervals[q]};
	const RedrawnRun pool(values);
	if (!supported(pool.values(), p))
		return std::nullopt;
	Quantile result{pool.at(rank(pool.values(), p) - 1), std::nullopt};
	if (const auto interval = interval_of(pool, p, result.value, clusters_of(values, clustered)))
		result.interval = widened(*interval, pool.off() * interval->low, pool.off() * interval->high);
	for (size_t q = 0; q < kReported.size() && kReported[q].per_100000 < p.per_100000; ++q)
		if (result.interval && described.intervals[q])
			result.interval->low = std::max(result.interval->low, described.intervals[q]->low);
	return result;
}

} // namespace icepath::stats
