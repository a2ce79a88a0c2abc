// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exact percentiles of a sample: each is a measured value.
//
// The estimator is the inverse of the empirical distribution function, the smallest value that at least the share p of
// the sample doesn't exceed: the order statistic of rank ceil(n·p). It is type 1 of Hyndman and Fan, "Sample Quantiles
// in Statistical Packages" (The American Statistician 50, 1996). It never interpolates into a gap without messages.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace icepath::stats {

// A share in hundred-thousandths, so that ranks are integers: 99900 is p99.9.
struct Percentile {
	uint32_t per_100000 = 50000; // 1 to 99999
	friend bool operator==(const Percentile &, const Percentile &) = default;
};
inline constexpr Percentile kP50{50000}, kP90{90000}, kP99{99000}, kP99_9{99900}, kP99_99{99990}, kP99_999{99999};
inline constexpr std::array<Percentile, 6> kReported = {kP50, kP90, kP99, kP99_9, kP99_99, kP99_999};

// n·(1-p) >= 10: with fewer values beyond it, a percentile shows luck rather than the tail. n below 2^47.
constexpr bool supported(uint64_t n, Percentile p) { return n * (100000 - p.per_100000) >= 10 * 100000; }

// 1 to n; n > 0 and below 2^47.
constexpr uint64_t rank(uint64_t n, Percentile p) { return (n * p.per_100000 + 99999) / 100000; }

// `sorted` is ascending and not empty. The caller checks whether n supports the percentile.
uint64_t percentile(std::span<const uint64_t> sorted, Percentile p);

// The p50 of values in any order, at least one.
double median(std::vector<double> values);

} // namespace icepath::stats
