// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/value_names.h"

#include <algorithm>
#include <cctype>

#include "profiler/isolation/tune.h"
#include "profiler/model/qos.h"
#include "profiler/selftest/injections.h"

namespace icepath::cli {
namespace {

// "other,fifo,fifo:PRIORITY": the words, of the last one "fifo:", as users choose what stands in capitals.
std::vector<std::string> words_of(std::string_view list)
{
	std::vector<std::string> words;
	for (size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
		end = list.find(',', begin);
		std::string word(list.substr(begin, end - begin));
		while (!word.empty() && std::isupper(static_cast<unsigned char>(word.back())))
			word.pop_back();
		words.push_back(word);
	}
	return words;
}

std::vector<std::string> words_of_qos()
{
	std::vector<std::string> words;
	for (const model::QosPolicy &policy : model::kQosPolicies) {
		if (policy.words.empty())
			words.push_back(fmt::format("{}=", policy.name));
		for (const char *value : policy.words)
			words.push_back(fmt::format("{}={}", policy.name, value));
	}
	return words;
}

std::vector<std::string> words_of_limits()
{
	std::vector<std::string> words;
	for (const isolation::Limit &limit : isolation::kLimits)
		words.push_back(fmt::format("{}=", limit.name));
	return words;
}

std::vector<std::string> names_of_injections()
{
	std::vector<std::string> names;
	for (const selftest::Injection &injection : selftest::injections())
		names.emplace_back(injection.name);
	return names;
}

} // namespace

Offer offer_for(std::string_view name)
{
	using Of = Offer::Of;
	if (name.starts_with('{') && name.ends_with('}'))
		return {Of::Words, words_of(name.substr(1, name.size() - 2))};
	if (name == value_name::kQos)
		return {Of::Words, words_of_qos(), true};
	if (name == value_name::kLimit)
		return {Of::Words, words_of_limits()};
	if (name == value_name::kInjection)
		return {Of::Words, names_of_injections()};
	if (name == value_name::kTarget)
		return {Of::Targets, {"all", "all-transports", "all-installed"}};
	for (const auto &[known, of] : {std::pair{value_name::kRun, Of::RunDirectories},
									{value_name::kFile, Of::Files},
									{value_name::kFileOrFolder, Of::Files},
									{value_name::kFolder, Of::Folders},
									{value_name::kGroup, Of::Groups}})
		if (name == known)
			return {of, {}};
	return {};
}

} // namespace icepath::cli
