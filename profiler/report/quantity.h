// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers as people read them.
#include <cstdint>
#include <string>
#include <string_view>

namespace icepath::report {

// Microseconds with three significant digits and no unit: "0.512", "8.41", "14.9", "412", "12 345".
std::string microseconds(double ns);

// With as many decimals as microseconds(value_ns) has: for what stands behind its "±".
std::string microseconds_beside(double ns, double value_ns);

// With its unit, the largest that leaves at least 1: "87 ns", "8.41 µs", "1.50 ms", "2.00 s". A negative one keeps its sign.
std::string duration(double ns);

std::string count(uint64_t number); // "18 233"
// Three significant digits: "845", "12.3k", "1.26M".
std::string amount(double number);
inline std::string per_second(double rate) { return amount(rate); }
std::string percent(double share); // 0.927 is "92.7 %"

// Columns that a UTF-8 text takes. Every character that a report prints is one column wide.
size_t columns(std::string_view text);
std::string pad_left(const std::string &text, size_t width);
std::string pad_right(const std::string &text, size_t width);

// For terminals and locales that know ASCII only: "µ" becomes "u", "±" "+/-", and so on; what has no spelling is "?".
std::string to_ascii(const std::string &text);

} // namespace icepath::report
