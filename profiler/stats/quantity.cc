// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace icepath::stats {
namespace {

// Decimals for three significant digits of `value`; none from 100 on.
int decimals(double value)
{
	const double size = std::abs(value);
	return size < 0.9995 ? 3 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
}

std::string with_decimals(double value, int places)
{
	if (places > 0)
		return fmt::format("{:.{}f}", value, places);
	const std::string digits = count(static_cast<uint64_t>(std::llround(std::min(std::abs(value), 9e18))));
	return value < 0 ? "-" + digits : digits;
}

std::string three_digits(double value) { return with_decimals(value, decimals(value)); }

} // namespace

std::string microseconds(double ns) { return three_digits(ns / 1000); }

std::string microseconds_beside(double ns, double value_ns)
{
	return with_decimals(ns / 1000, decimals(value_ns / 1000));
}

std::string exact_microseconds(uint64_t ns) { return fmt::format("{}.{:03}", count(ns / 1000), ns % 1000); }

std::string duration(double ns)
{
	const double size = std::abs(ns);
	if (size < 999.5)
		return fmt::format("{:.0f} ns", ns);
	if (size < 999.5e3)
		return three_digits(ns / 1e3) + " µs";
	if (size < 999.5e6)
		return three_digits(ns / 1e6) + " ms";
	return three_digits(ns / 1e9) + " s";
}

double rounded(double ns) { return std::round(ns * 1000) / 1000; }

std::string percentile_name(stats::Percentile p) { return fmt::format("p{:.5g}", p.per_100000 / 1000.0); }

std::string amount(double number)
{
	if (number < 999.5)
		return three_digits(number);
	return number < 999.5e3 ? three_digits(number / 1e3) + "k" : three_digits(number / 1e6) + "M";
}

std::string count(uint64_t number)
{
	std::string digits = std::to_string(number);
	if (digits.size() <= 4)
		return digits;
	for (size_t at = digits.size() - 3; at < digits.size(); at -= 3) {
		if (at != 0)
			digits.insert(at, " ");
		if (at < 3)
			break;
	}
	return digits;
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

bool is_lopsided(double value, const stats::Interval &interval)
{
	const auto [shorter, longer] = std::minmax({value - interval.low, interval.high - value});
	return longer > 1.5 * shorter && longer > 0.05 * value;
}

std::string range_text(const stats::Interval &interval)
{
	return microseconds(interval.low) + ".." + microseconds(interval.high);
}

// Digits after "±" make sense only for an interval smaller than the value. A value of 0 has no percentage.
std::string interval_text(double ns, const stats::Interval &interval)
{
	const double half = (interval.high - interval.low) / 2;
	if (half < ns && is_lopsided(ns, interval))
		return " (" + range_text(interval) + ")";
	return half < ns || half == 0 ? " ±" + microseconds_beside(half, ns) : " ±>100%";
}

std::optional<double> relative_half(const stats::Distribution &d, size_t which)
{
	if (!d.percentiles[which] || !d.intervals[which] || *d.percentiles[which] == 0)
		return std::nullopt;
	return (d.intervals[which]->high - d.intervals[which]->low) / 2 / static_cast<double>(*d.percentiles[which]);
}

std::string percentile_text(const stats::Distribution &d, size_t which)
{
	if (!d.percentiles[which] || !d.intervals[which])
		return "–";
	const auto ns = static_cast<double>(*d.percentiles[which]);
	return microseconds(ns) + interval_text(ns, *d.intervals[which]);
}

std::string effect_text(const std::optional<stats::Effect> &effect)
{
	if (!effect)
		return "–";
	const auto &[mean, pairs, interval] = *effect;
	return (mean < 0 ? "" : "+") + microseconds(mean) +
		   (interval ? " ±" + microseconds_beside((interval->high - interval->low) / 2, mean) : " ±?");
}

} // namespace icepath::stats
