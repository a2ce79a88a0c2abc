// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers formatted for people.
#include <cstdint>
#include <optional>
#include <string>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/paired_blocks.h"

namespace icepath::stats {

// Microseconds with three significant digits and no unit: "0.512", "8.41", "14.9", "412", "12 345".
std::string microseconds(double ns);

// With the decimals of microseconds(value_ns): the number after "±".
std::string microseconds_beside(double ns, double value_ns);

// To the nanosecond, so that a column can be added up: "5 806.003".
std::string exact_microseconds(uint64_t ns);

// With the largest unit that leaves at least 1: "87 ns", "8.41 µs", "1.50 ms", "2.00 s". Negative values keep their
// sign.
std::string duration(double ns);

std::string count(uint64_t number); // "18 233"
// Three significant digits: "845", "12.3k", "1.26M".
std::string amount(double number);
inline std::string per_second(double rate) { return amount(rate); }
std::string percent(double share); // 0.927 is "92.7 %"

// To picoseconds: finer than any measurement, and readable.
double rounded(double ns);

std::string percentile_name(stats::Percentile p); // "p99.9"

// Values with their intervals, in µs.
//
// Whether ± would be wrong: one side is more than half as long again as the other, and more than 5 % of the value.
bool is_lopsided(double value, const stats::Interval &interval);

// " ±0.12": half of the interval with the value's digits; " (5.20..8.31)" if it is lopsided; " ±>100%" if it is wider
// than the value.
std::string interval_text(double ns, const stats::Interval &interval);
std::string range_text(const stats::Interval &interval); // "5.20..8.31"

// Half of a percentile's interval as a share of its value; nothing if missing, or if the value is 0.
std::optional<double> relative_half(const stats::Distribution &distribution, size_t which);

// "5.34 ±0.12", "5.34 (5.20..8.31)"; "–" if missing: none is shown without its interval.
std::string percentile_text(const stats::Distribution &distribution, size_t which);

// "+0.200 ±0.018"; "±?" if no interval is known; "–" if nothing is.
std::string effect_text(const std::optional<stats::Effect> &effect);

} // namespace icepath::stats
