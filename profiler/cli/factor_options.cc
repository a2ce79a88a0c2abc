// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/factor_options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "profiler/cli/option_values.h"
#include "profiler/cli/value_names.h"
#include "profiler/failure.h"
#include "profiler/model/qos.h"

namespace icepath::cli {
namespace {

using model::Factor;

// In the option's syntax: "10", "500us".
std::string text_of(const Factor &factor, uint64_t level)
{
	if (factor.unit == Factor::Unit::FifoPriority)
		return level == 0 ? "other" : fmt::format("fifo:{}", level);
	if (factor.unit == Factor::Unit::Count || level == 0)
		return fmt::format("{}", level);
	for (const auto &[unit, ns] : {std::pair("s", 1'000'000'000ull), {"ms", 1'000'000ull}, {"us", 1'000ull}})
		if (level % ns == 0)
			return fmt::format("{}{}", level / ns, unit);
	return fmt::format("{}ns", level);
}

const char *value_name_of(const Factor &factor)
{
	switch (factor.unit) {
	case Factor::Unit::Count:
		return value_name::kCount;
	case Factor::Unit::Nanoseconds:
		return value_name::kTime;
	case Factor::Unit::FifoPriority:
		return "{other,fifo,fifo:PRIORITY}";
	}
	return "";
}

uint64_t priority_of(const Factor &factor, const std::string &text)
{
	constexpr std::string_view kFifo = "fifo:";
	uint64_t priority = 0;
	if (text == "other")
		return 0;
	if (text == "fifo")
		return 1;
	if (text == "deadline")
		throw Failure(ExitCode::Usage,
					  fmt::format("{} deadline: icepath pins each side, and the kernel takes no pinned "
								  "process under SCHED_DEADLINE (sched_setattr(2)): give fifo",
								  factor.option));
	const char *end = text.data() + text.size();
	if (!text.starts_with(kFifo) || std::from_chars(text.data() + kFifo.size(), end, priority).ptr != end ||
		priority == 0 || priority > factor.most)
		throw Failure(ExitCode::Usage,
					  fmt::format("{}: \"{}\" isn't a policy: give other, fifo or fifo:PRIORITY from 1 to {}",
								  factor.option, text, factor.most));
	return priority;
}

uint64_t level_of(const Factor &factor, const std::string &text)
{
	if (factor.unit == Factor::Unit::FifoPriority)
		return priority_of(factor, text);
	uint64_t level = 0;
	if (factor.unit == Factor::Unit::Nanoseconds) {
		level = nanoseconds_of(factor.option, text);
	} else if (const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), level);
			   error != std::errc() || rest != text.data() + text.size()) {
		throw Failure(ExitCode::Usage, fmt::format("{}: \"{}\" isn't a number: give {} to {}", factor.option, text,
												   factor.least, factor.most));
	}
	if (level < factor.least || level > factor.most)
		throw Failure(ExitCode::Usage, fmt::format("{}: {} is outside of {} to {}", factor.option, text,
												   text_of(factor, factor.least), text_of(factor, factor.most)));
	return level;
}

} // namespace

void add_factors(CLI::App &app, FactorTexts &texts, const char *of_patterns, const char *of_all)
{
	for (size_t i = 0; i < model::kFactorCount; ++i) {
		const Factor &factor = model::kFactors[i];
		std::vector<std::string> usual;
		for (const uint64_t level : factor.usual)
			usual.push_back(text_of(factor, level));
		const std::string range =
			factor.unit == Factor::Unit::FifoPriority
				? ""
				: fmt::format(", {} to {}", text_of(factor, factor.least), text_of(factor, factor.most));
		app.add_option(factor.option, texts[i], factor.help + range)
			->type_name(value_name_of(factor))
			->group(factor.varies ? of_patterns : of_all)
			->default_str(fmt::format("{}", fmt::join(usual, ",")));
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

namespace {

constexpr double kLongestS = 3600;

uint64_t qos_value(icepath_qos_policy which, const std::string &text)
{
	const model::QosPolicy &policy = model::kQosPolicies[which];
	const std::string option = fmt::format("--qos {}", policy.name);
	if (policy.kind == model::QosPolicy::Kind::Word) {
		const auto word = std::ranges::find(policy.words, text);
		if (word == policy.words.end())
			throw Failure(ExitCode::Usage,
						  fmt::format("{}: \"{}\" isn't one of {}", option, text, fmt::join(policy.words, ", ")));
		return static_cast<uint64_t>(word - policy.words.begin());
	}
	if (policy.kind == model::QosPolicy::Kind::Time && text == "infinite")
		return ICEPATH_QOS_INFINITE;
	uint64_t value = 0;
	if (policy.kind == model::QosPolicy::Kind::Time)
		value = nanoseconds_of(option, text, kLongestS);
	else if (const char *end = text.data() + text.size(); std::from_chars(text.data(), end, value).ptr != end)
		value = 0;
	if (!model::is_possible(which, value))
		throw Failure(ExitCode::Usage, fmt::format("{}: \"{}\" can't be: give {}", option, text,
												   policy.kind == model::QosPolicy::Kind::Time
													   ? "a time above 0, such as 10ms, or \"infinite\""
													   : "a number from 1"));
	return value;
}

} // namespace

std::vector<std::string> qos_examples()
{
	std::vector<std::string> examples;
	for (const model::QosPolicy &policy : model::kQosPolicies)
		examples.push_back(fmt::format("{}={}", policy.name,
									   policy.kind == model::QosPolicy::Kind::Word
										   ? fmt::format("{}", fmt::join(policy.words, "|"))
									   : policy.kind == model::QosPolicy::Kind::Count ? "N"
																					  : "TIME"));
	return examples;
}

void add_qos(const std::string &text, std::array<std::vector<uint64_t>, ICEPATH_QOS_POLICIES> &qos)
{
	const size_t equals = text.find('=');
	const auto policy =
		std::ranges::find_if(model::kQosPolicies, [&](const auto &one) { return text.substr(0, equals) == one.name; });
	if (equals == std::string::npos || policy == model::kQosPolicies.end())
		throw Failure(ExitCode::Usage, fmt::format("--qos: \"{}\" isn't a policy with a value: give one of {}", text,
												   fmt::join(qos_examples(), ", ")));
	const auto which = static_cast<icepath_qos_policy>(policy - model::kQosPolicies.begin());
	for (size_t begin = equals + 1, end = 0; end != std::string::npos; begin = end + 1) {
		end = text.find(',', begin);
		qos[which].push_back(qos_value(which, text.substr(begin, end - begin)));
	}
}

} // namespace icepath::cli
