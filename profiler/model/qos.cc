// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/qos.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace icepath::model {
namespace {

using Kind = QosPolicy::Kind;

std::string time_text(uint64_t ns)
{
	if (ns == ICEPATH_QOS_INFINITE)
		return "infinite";
	return ns < 1'000'000 ? fmt::format("{:g}us", static_cast<double>(ns) / 1e3)
						  : fmt::format("{:g}ms", static_cast<double>(ns) / 1e6);
}

} // namespace

bool Qos::any() const
{
	return std::ranges::any_of(*this, [](const auto &value) { return value.has_value(); });
}

bool is_possible(icepath_qos_policy policy, uint64_t value)
{
	switch (const QosPolicy &what = kQosPolicies[policy]; what.kind) {
	case Kind::Word:
		return value < what.words.size();
	case Kind::Count:
		return value >= 1 && value <= INT32_MAX;
	case Kind::Time:
		break;
	}
	return value >= 1;
}

bool may_lose(const Qos &qos)
{
	return qos[ICEPATH_QOS_RELIABILITY] == ICEPATH_BEST_EFFORT || qos[ICEPATH_QOS_HISTORY] == ICEPATH_KEEP_LAST ||
		   qos[ICEPATH_QOS_LIFESPAN].value_or(ICEPATH_QOS_INFINITE) != ICEPATH_QOS_INFINITE;
}

std::string text(const Qos &qos)
{
	std::string all;
	for (size_t i = 0; i < qos.size(); i++) {
		if (!qos[i])
			continue;
		const QosPolicy &policy = kQosPolicies[i];
		if (!all.empty())
			all += ' ';
		if (policy.kind == Kind::Word)
			all += policy.words[*qos[i]];
		else
			all += fmt::format("{} {}", policy.name,
							   policy.kind == Kind::Time ? time_text(*qos[i]) : std::to_string(*qos[i]));
	}
	return all;
}

namespace {

std::optional<uint64_t> parsed_time(std::string_view text)
{
	if (text == "infinite")
		return ICEPATH_QOS_INFINITE;
	const double unit_ns = text.ends_with("us") ? 1e3 : text.ends_with("ms") ? 1e6 : 0;
	double number = 0;
	const char *const last = text.data() + text.size() - std::min<size_t>(text.size(), 2);
	const auto [end, error] = std::from_chars(text.data(), last, number);
	const double ns = number * unit_ns;
	return error == std::errc() && end == last && ns >= 1 && ns < 1e18
			   ? std::optional(static_cast<uint64_t>(std::llround(ns)))
			   : std::nullopt;
}

std::optional<uint64_t> parsed_count(std::string_view text)
{
	uint64_t count = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
	return error == std::errc() && end == text.data() + text.size() ? std::optional(count) : std::nullopt;
}

std::string_view first_word(std::string_view &rest)
{
	const std::string_view word = rest.substr(0, rest.find(' '));
	rest.remove_prefix(std::min(word.size() + 1, rest.size()));
	return word;
}

} // namespace

std::optional<Qos> parsed_qos(std::string_view text)
{
	Qos qos;
	while (!text.empty()) {
		const std::string_view word = first_word(text);
		const auto policy = std::ranges::find_if(kQosPolicies, [&](const QosPolicy &one) {
			return one.kind == Kind::Word ? std::ranges::find(one.words, word) != one.words.end() : one.name == word;
		});
		if (policy == kQosPolicies.end())
			return std::nullopt;
		const auto which = static_cast<size_t>(policy - kQosPolicies.begin());
		if (policy->kind == Kind::Word)
			qos[which] = static_cast<uint64_t>(std::ranges::find(policy->words, word) - policy->words.begin());
		else
			qos[which] = policy->kind == Kind::Time ? parsed_time(first_word(text)) : parsed_count(first_word(text));
		if (!qos[which] || !is_possible(static_cast<icepath_qos_policy>(which), *qos[which]))
			return std::nullopt;
	}
	return qos;
}

void add_granted(const Qos &asked, const Qos &reported, Qos &granted)
{
	for (size_t i = 0; i < reported.size(); i++)
		if (!granted[i] || (reported[i] && asked[i] && reported[i] != asked[i]))
			granted[i] = reported[i];
}

icepath_qos for_plugin(const Qos &qos)
{
	icepath_qos asked{};
	for (size_t i = 0; i < qos.size(); i++)
		if (qos[i]) {
			asked.policies |= 1u << i;
			asked.values[i] = *qos[i];
		}
	return asked;
}

Qos believable(const icepath_qos &said)
{
	Qos qos;
	for (size_t i = 0; i < qos.size(); i++)
		if ((said.policies & (1u << i)) && is_possible(static_cast<icepath_qos_policy>(i), said.values[i]))
			qos[i] = said.values[i];
	return qos;
}

} // namespace icepath::model
