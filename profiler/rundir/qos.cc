// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/qos.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/rundir/json_field.h"

namespace icepath::rundir {
namespace {

using Kind = QosPolicy::Kind;

std::string key_of(const QosPolicy &policy)
{
	return policy.kind == Kind::Time ? std::string(policy.name) + "_ns" : policy.name;
}

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

void add_granted(const Qos &asked, const Qos &told, Qos &granted)
{
	for (size_t i = 0; i < told.size(); i++)
		if (!granted[i] || (told[i] && asked[i] && told[i] != asked[i]))
			granted[i] = told[i];
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

nlohmann::ordered_json to_json(const Qos &qos)
{
	auto json = nlohmann::ordered_json::object();
	for (size_t i = 0; i < qos.size(); i++) {
		if (!qos[i])
			continue;
		auto &value = json[key_of(kQosPolicies[i])];
		if (kQosPolicies[i].kind == Kind::Word)
			value = kQosPolicies[i].words[*qos[i]];
		else if (kQosPolicies[i].kind == Kind::Count || *qos[i] != ICEPATH_QOS_INFINITE)
			value = *qos[i];
	}
	return json;
}

Qos qos_from_json(const nlohmann::ordered_json &json)
{
	Qos qos;
	for (size_t i = 0; i < qos.size(); i++) {
		const QosPolicy &policy = kQosPolicies[i];
		const std::string key = key_of(policy);
		if (!json.contains(key))
			continue;
		if (policy.kind == Kind::Word) {
			const auto word = std::ranges::find(policy.words, text_field(json, key.c_str()));
			if (word == policy.words.end())
				wrong(key.c_str(), "has a value that this icepath doesn't know");
			qos[i] = static_cast<uint64_t>(word - policy.words.begin());
			continue;
		}
		const bool infinite = policy.kind == Kind::Time && field(json, key.c_str()).is_null();
		qos[i] = infinite ? ICEPATH_QOS_INFINITE : unsigned_field(json, key.c_str());
		if (!is_possible(static_cast<icepath_qos_policy>(i), *qos[i]))
			wrong(key.c_str(), "is larger or smaller than it can be");
	}
	return qos;
}

} // namespace icepath::rundir
