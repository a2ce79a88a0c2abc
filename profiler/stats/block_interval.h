// SPDX-License-Identifier: Apache-2.0
#pragma once
// Describes one set of latencies: percentiles and spread of all messages, and intervals that come from its blocks.
//
// Messages in a block share its circumstances, so blocks are the independent evidence, not messages. The p50 of eight
// clusters or more has its interval from percentile_interval.h, percentiles beyond p99 from far_tail.h. All others come
// from a cluster bootstrap: whole blocks are drawn with replacement (Davison and Hinkley, "Bootstrap Methods and their
// Application", 1997, 3.8), the statistic q of each redrawn run (a percentile, a deviation) is computed exactly, and
// the standard deviation s of their logarithms gives
//
//     exp(log q ± t(0.975, B-1) · s · sqrt(B / (B-1)))
//
// for B blocks, widened by changes that are slower than the succession of blocks (slow_changes.h). Intervals are
// reported however wide they are: omitting wide ones would keep those that are narrow by luck.
//
// Student's t and the factor correct plain percentile intervals, which are too narrow for few blocks (Hesterberg, "What
// Teachers Should Know About the Bootstrap", The American Statistician 69, 2015). The logarithm keeps a latency's
// interval above zero. The draws are the same on every machine.
//
// In simulated runs (tests/stats/block_interval_test.cc) 92 % or more of the intervals with 3 to 20 blocks contain the
// true p50. For p99 it is 92 % where blocks differ less than their messages, and 80 to 88 % where they differ as much:
// rare blocks then make the tail, and no interval contains what no block showed. The standard deviation is contained in
// 93 and in 84 to 89 % likewise, the median deviation in 95 and in 90 %.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/stats/block_values.h"
#include "profiler/stats/interval.h"
#include "profiler/stats/percentile.h"

namespace icepath::stats {

inline constexpr size_t kMinBlocks = 3; // with fewer, no interval

struct Distribution {
	uint64_t count = 0;
	uint64_t blocks = 0; // with at least one value
	uint64_t clusters = 0; // of these blocks; the intervals rest on clusters
	uint64_t min = 0, max = 0; // 0 where count is 0
	double mean = 0;
	double mean_by_block = 0; // of the blocks' means: each block counts the same, however few messages it has
	// Over n - 1; missing below two values. One slow message in a thousand may make most of it.
	std::optional<double> standard_deviation;
	// Median of |value - p50|: how far a typical message is from the p50. Missing where p50 is.
	std::optional<uint64_t> median_deviation;
	// In the order of kReported. Percentile and interval are both present or both missing: where `count` doesn't
	// support them, below kMinBlocks clusters, and where too few blocks or messages lie beyond them (far_tail.h).
	std::array<std::optional<uint64_t>, kReported.size()> percentiles;
	std::array<std::optional<Interval>, kReported.size()> intervals;
	std::optional<Interval> standard_deviation_interval, median_deviation_interval;
	// A percentile is off by at most this share of itself; 0: every value was kept (block_values.h). The median
	// deviation is off by at most this share of the sum of itself and twice the p50. Intervals include that.
	double off = 0;
};

// What is drawn together, as one of the B clusters.
enum class ClusteredBy : uint8_t { Block, Opening };

// O(n log n) once, then O(B log n) per draw. Blocks of the same processes share their luck, so an interval holds for
// another run only where clusters are openings. `outside_p50`: probability that the interval of the p50 doesn't have
// the truth.
Distribution describe(const BlockValues &values, ClusteredBy clustered, double outside_p50 = 0.05);

// The values of each block, in any order. `clusters`, in the order of `blocks`: those with the same number are one
// cluster; without it each block is one.
Distribution describe(const std::vector<std::vector<uint64_t>> &blocks, const std::vector<uint32_t> &clusters = {},
					  double outside_p50 = 0.05);

// Of the mean of all values, by RedrawnMeans: each block counts by its number of them.
std::optional<Interval> mean_interval(const BlockValues &values, ClusteredBy clustered);

// Any percentile of the same messages, by the same rules.
struct Quantile {
	uint64_t value = 0;
	std::optional<Interval> interval; // missing where describe() would report neither
};
// Nothing if the values don't support it. `described`: the same values; what it reports is taken from it, and intervals
// of others don't begin before those of the percentiles below them either.
std::optional<Quantile> quantile(const BlockValues &values, Percentile p, ClusteredBy clustered,
								 const Distribution &described);

} // namespace icepath::stats
