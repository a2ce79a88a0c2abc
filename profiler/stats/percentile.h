// SPDX-License-Identifier: Apache-2.0
#pragma once
// Percentiles of a sample: exact, every one a value that was measured.
//
// The estimator is the inverse of the empirical distribution function, the smallest value that at least the share p of
// the sample doesn't exceed: the order statistic of rank ceil(n·p). It is type 1 of Hyndman and Fan, "Sample Quantiles in
// Statistical Packages" (The American Statistician 50, 1996). It never interpolates into a gap where no message was.
#include <array>
#include <cstdint>
#include <span>

namespace icepath::stats {

// A share in ten-thousandths, so that ranks are computed in whole numbers: 9990 is p99.9.
struct Percentile {
	uint32_t per_10000 = 5000; // 1 to 9999
	friend bool operator==(const Percentile &, const Percentile &) = default;
};
inline constexpr Percentile kP50{5000}, kP90{9000}, kP99{9900}, kP99_9{9990};
inline constexpr std::array<Percentile, 4> kReported = {kP50, kP90, kP99, kP99_9};

// n·(1-p) >= 10: fewer values beyond it, and a percentile says more about luck than about the tail.
constexpr bool supported(uint64_t n, Percentile p) { return n * (10000 - p.per_10000) >= 10 * 10000; }

// 1 to n; n > 0 and below 2^50.
constexpr uint64_t rank(uint64_t n, Percentile p) { return (n * p.per_10000 + 9999) / 10000; }

// `sorted` is ascending and not empty. Whether n supports it is the caller's question.
uint64_t percentile(std::span<const uint64_t> sorted, Percentile p);

} // namespace icepath::stats
