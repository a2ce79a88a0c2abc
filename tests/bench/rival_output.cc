// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/rival_output.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace icepath::bench {
namespace {

// What stands between `before` and the first of `stops` after it.
std::optional<std::string_view> field(std::string_view text, std::string_view before, std::string_view stops)
{
	const size_t found = text.find(before);
	if (found == std::string_view::npos)
		return std::nullopt;
	text.remove_prefix(found + before.size());
	text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ')));
	const size_t stop = text.find_first_of(stops);
	if (stop == std::string_view::npos)
		return std::nullopt; // cut off
	return text.substr(0, stop);
}

template <class Number> std::optional<Number> number(std::string_view text, std::string_view before)
{
	const auto digits = field(text, before, " ;\n\x1b(");
	Number value{};
	if (!digits)
		return std::nullopt;
	const auto [end, error] = std::from_chars(digits->data(), digits->data() + digits->size(), value);
	if (error != std::errc() || end != digits->data() + digits->size())
		return std::nullopt;
	return value;
}

bool is_time(double value) { return std::isfinite(value) && value > 0; }

} // namespace

std::optional<RivalReport> parse_sockperf(std::string_view output)
{
	const bool whole = output.find("Summary: Round trip is") != std::string_view::npos;
	if (!whole && output.find("Summary: Latency is") == std::string_view::npos)
		return std::nullopt;
	const auto p50_us = number<double>(output, "percentile 50.000 =");
	// What it counted in the middle of the run; the times before and after are its warm-up and cool-down.
	const size_t counted = output.find("[Valid Duration]");
	const auto trips = number<uint64_t>(output.substr(std::min(counted, output.size())), "ReceivedMessages=");
	for (const std::string_view bad : {"# dropped messages =", "# duplicated messages =", "# out-of-order messages ="})
		if (number<uint64_t>(output, bad) != 0u)
			return std::nullopt;
	if (!p50_us || !is_time(*p50_us) || !trips || *trips == 0)
		return std::nullopt;
	const auto version = field(output, "version #", " \n\x1b");
	return RivalReport{*p50_us * 1e3 * (whole ? 1 : 2), *trips, version ? std::string(*version) : ""};
}

std::optional<RivalReport> parse_fio(std::string_view output)
{
	using nlohmann::json;
	// Warnings may come before it, and what other threads say after it.
	const size_t begin = output.find('{'), end = output.rfind('}');
	if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
		return std::nullopt;
	const json told = json::parse(output.substr(begin, end - begin + 1), nullptr, false);
	const auto at = [&](const char *pointer) {
		const json::json_pointer path(pointer);
		return told.is_object() && told.contains(path) ? told.at(path) : json();
	};
	const json p50 = at("/jobs/0/write/clat_ns/percentile/50.000000"), trips = at("/jobs/0/write/total_ios"),
			   version = at("/fio version");
	if (!p50.is_number() || !is_time(p50.get<double>()) || !trips.is_number_unsigned() || trips.get<uint64_t>() == 0)
		return std::nullopt;
	return RivalReport{p50.get<double>(), trips.get<uint64_t>(), version.is_string() ? version.get<std::string>() : ""};
}

} // namespace icepath::bench
