// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is told of one set of latencies: percentiles and spread of all messages, and intervals that come from its blocks.
//
// Messages in a block share its circumstances, so they are no independent evidence; blocks are. An interval is found by a
// cluster bootstrap: blocks are drawn with replacement, whole (Davison and Hinkley, "Bootstrap Methods and their
// Application", 1997, 3.8), the statistic q of each redrawn run (a percentile, a deviation) is taken exactly, and the
// standard deviation s of their logarithms gives
//
//     exp(log q ± t(0.975, B-1) · s · sqrt(B / (B-1)))
//
// for B blocks. One that leaves more than a factor of kWidest on either side isn't told: blocks that differ so much know
// only that they do, and an exponential of their spread is far beyond anything that was measured.
//
// Student's t and the factor mend what makes plain percentile intervals too narrow for few blocks
// (Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69, 2015); the logarithm
// keeps a latency's interval above zero. The draws are the same on every machine.
//
// Simulated runs (tests/stats/block_interval_test.cc) hold the true p50 in 95 to 97 % of the intervals with 3 to 20
// blocks. For p99 it is 92 % where blocks differ less than their messages do, and 80 to 88 % where they differ as much:
// then the tail is made of rare blocks, and what no block showed can't be in an interval. The standard deviation is held by 93
// and by 84 to 89 % likewise, the median deviation by 95 and by 90 %.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/stats/percentile.h"

namespace icepath::stats {

inline constexpr size_t kMinBlocks = 3; // below: no interval
inline constexpr unsigned kReplicates = 400; // s is then known within 3.5 %
inline constexpr double kWidest = 10;

struct Interval {
	double low = 0, high = 0; // 95 %
};

struct Distribution {
	uint64_t count = 0;
	uint64_t blocks = 0; // with at least one value
	uint64_t min = 0, max = 0; // 0 where count is 0
	double mean = 0;
	// Over n - 1; missing below two values. One slow message in a thousand may be most of it.
	std::optional<double> standard_deviation;
	// Median of |value - p50|: how far from the p50 a message commonly is. Missing where `count` doesn't support a p50.
	std::optional<uint64_t> median_deviation;
	// By kReported. A percentile is missing where `count` doesn't support it, an interval also below kMinBlocks, or
	// where it would be wider than kWidest allows.
	std::array<std::optional<uint64_t>, kReported.size()> percentiles;
	std::array<std::optional<Interval>, kReported.size()> intervals;
	std::optional<Interval> standard_deviation_interval, median_deviation_interval;
};

// The values of each block, in any order. O(n log n) once, then O(B log n) per draw.
Distribution describe(const std::vector<std::vector<uint64_t>> &blocks);

} // namespace icepath::stats
