// SPDX-License-Identifier: Apache-2.0
#include "profiler/pages/markup.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "profiler/analysis/layer_style.h"
#include "profiler/text/columns.h"

namespace icepath::pages {

std::string script_json(const nlohmann::ordered_json &json)
{
	std::string safe;
	// Outside of strings, JSON has none of these characters.
	for (const char c : json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
		if (c == '<' || c == '>' || c == '&')
			safe += fmt::format("\\u{:04x}", c);
		else
			safe += c;
	return safe;
}

constexpr double kCharacter = 7.25, kPadding = 6;

bool begins_character(char one) { return (static_cast<unsigned char>(one) & 0xc0) != 0x80; }

std::string fitted(const std::string &text, double pixels)
{
	const auto room = static_cast<size_t>(std::max(0.0, (pixels - kPadding) / kCharacter));
	if (text::columns(text) <= room)
		return text;
	if (room < 4)
		return "";
	size_t at = 0;
	for (size_t left = room - 1; at < text.size(); ++at)
		if (begins_character(text[at]) && left-- == 0)
			break;
	return text.substr(0, at) + "…";
}

std::string fitted_with_end(const std::string &text, double pixels)
{
	constexpr size_t kEnd = 10; // characters
	const std::string begin = fitted(text, pixels - kEnd * kCharacter), all = fitted(text, pixels);
	if (all == text || begin.empty())
		return all;
	size_t at = text.size();
	for (size_t left = kEnd; left > 0; left -= begins_character(text[at]) ? 1 : 0)
		--at;
	return begin + text.substr(at);
}

std::string kind_rules()
{
	std::string rules;
	for (size_t i = 0; i < analysis::kLayerKinds; ++i) {
		const std::string colour = analysis::kKindStyles[i].colour;
		const auto part = [&](size_t at) { return std::stoul(colour.substr(at, 2), nullptr, 16); };
		const bool dark = 299 * part(1) + 587 * part(3) + 114 * part(5) < 128'000;
		rules += fmt::format(".kind-{0} rect,rect.kind-{0}{{fill:{1}}}.kind-{0} text{{fill:{2}}}\n", i, colour,
							 dark ? "#fff" : "#111");
	}
	return rules;
}

std::vector<double> axis_values(double most, size_t about)
{
	if (!(most > 0))
		return {0};
	const double least = most / static_cast<double>(about);
	double step = std::pow(10, std::floor(std::log10(least)));
	for (const double factor : {2.0, 2.5, 2.0})
		if (step < least)
			step *= factor;
	std::vector<double> values;
	for (size_t i = 0; static_cast<double>(i) * step <= most * (1 + 1e-9); ++i)
		values.push_back(static_cast<double>(i) * step);
	return values;
}

} // namespace icepath::pages
