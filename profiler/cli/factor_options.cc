// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/factor_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "profiler/cli/option_values.h"
#include "profiler/failure.h"

namespace icepath::cli {
namespace {

using model::Factor;

// In the option's syntax: "10", "500us".
std::string text_of(const Factor &factor, uint64_t level)
{
	if (factor.unit == Factor::Unit::Count || level == 0)
		return fmt::format("{}", level);
	for (const auto &[unit, ns] : {std::pair("s", 1'000'000'000ull), {"ms", 1'000'000ull}, {"us", 1'000ull}})
		if (level % ns == 0)
			return fmt::format("{}{}", level / ns, unit);
	return fmt::format("{}ns", level);
}

uint64_t level_of(const Factor &factor, const std::string &text)
{
	uint64_t level = 0;
	if (factor.unit == Factor::Unit::Nanoseconds) {
		level = nanoseconds_of(factor.option, text);
	} else if (const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), level);
			   error != std::errc() || rest != text.data() + text.size()) {
		throw Failure(ExitCode::Usage, fmt::format("{}: \"{}\" is no number: give {} to {}", factor.option, text,
												   factor.least, factor.most));
	}
	if (level < factor.least || level > factor.most)
		throw Failure(ExitCode::Usage, fmt::format("{}: {} is outside of {} to {}", factor.option, text,
												   text_of(factor, factor.least), text_of(factor, factor.most)));
	return level;
}

} // namespace

void add_factors(CLI::App &app, FactorTexts &texts)
{
	for (size_t i = 0; i < model::kFactorCount; ++i) {
		const Factor &factor = model::kFactors[i];
		std::vector<std::string> usual;
		for (const uint64_t level : factor.usual)
			usual.push_back(text_of(factor, level));
		app.add_option(factor.option, texts[i], factor.help)->default_str(fmt::format("{}", fmt::join(usual, ",")));
	}
}

void take_factors(const FactorTexts &texts, plan::WantedLevels &levels)
{
	for (size_t i = 0; i < model::kFactorCount; ++i) {
		if (texts[i].empty())
			continue;
		std::vector<uint64_t> &wanted = levels[model::kFactors[i].level];
		wanted.clear();
		for (const std::string &text : items_of(model::kFactors[i].option, texts[i]))
			wanted.push_back(level_of(model::kFactors[i], text));
	}
}

} // namespace icepath::cli
