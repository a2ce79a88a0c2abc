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
// for B blocks, to which comes what changes more slowly than blocks follow each other (slow_changes.h). It is told however wide it is: to leave out the wide ones would leave those that are narrow by luck. Percentiles
// beyond p99 are told by other means (far_tail.h).
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

#include "profiler/stats/interval.h"
#include "profiler/stats/percentile.h"

namespace icepath::stats {

inline constexpr size_t kMinBlocks = 3; // below: no interval

struct Distribution {
	uint64_t count = 0;
	uint64_t blocks = 0; // with at least one value
	uint64_t clusters = 0; // of these blocks, which the intervals rest on
	uint64_t min = 0, max = 0; // 0 where count is 0
	double mean = 0;
	// Over n - 1; missing below two values. One slow message in a thousand may be most of it.
	std::optional<double> standard_deviation;
	// Median of |value - p50|: how far from the p50 a message commonly is. Missing where p50 is.
	std::optional<uint64_t> median_deviation;
	// By kReported. Both are there or neither: they are missing where `count` doesn't support them, below kMinBlocks clusters, and
	// where too few blocks or messages lie beyond them (far_tail.h).
	std::array<std::optional<uint64_t>, kReported.size()> percentiles;
	std::array<std::optional<Interval>, kReported.size()> intervals;
	std::optional<Interval> standard_deviation_interval, median_deviation_interval;
};

// The values of each block, in any order. O(n log n) once, then O(B log n) per draw.
// `clusters`, beside `blocks`: blocks with the same number are drawn together, and are one of B; without it each is alone.
// Blocks that the same processes measured share their luck: only where these were begun anew is the interval one for another
// run, too.
Distribution describe(const std::vector<std::vector<uint64_t>> &blocks, const std::vector<uint32_t> &clusters = {});

} // namespace icepath::stats
