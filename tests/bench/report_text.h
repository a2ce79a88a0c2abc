// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers in what programs print for people.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>

namespace icepath::bench {

// What stands between `before` and the first of `stops` after it.
inline std::optional<std::string_view> field(std::string_view text, std::string_view before, std::string_view stops)
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

template <class Number>
std::optional<Number> number(std::string_view text, std::string_view before, std::string_view stops = " ;\n\x1b(")
{
	const auto digits = field(text, before, stops);
	Number value{};
	if (!digits)
		return std::nullopt;
	const auto [end, error] = std::from_chars(digits->data(), digits->data() + digits->size(), value);
	if (error != std::errc() || end != digits->data() + digits->size())
		return std::nullopt;
	return value;
}

inline bool is_time(double value) { return std::isfinite(value) && value > 0; }

} // namespace icepath::bench
