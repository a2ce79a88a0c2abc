// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/qos_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiler/rundir/json_field.h"

namespace icepath::rundir {
namespace {

using Kind = model::QosPolicy::Kind;

std::string key_of(const model::QosPolicy &policy)
{
	return policy.kind == Kind::Time ? std::string(policy.name) + "_ns" : policy.name;
}

} // namespace

nlohmann::ordered_json to_json(const model::Qos &qos)
{
	auto json = nlohmann::ordered_json::object();
	for (size_t i = 0; i < qos.size(); i++) {
		if (!qos[i])
			continue;
		auto &value = json[key_of(model::kQosPolicies[i])];
		if (model::kQosPolicies[i].kind == Kind::Word)
			value = model::kQosPolicies[i].words[*qos[i]];
		else if (model::kQosPolicies[i].kind == Kind::Count || *qos[i] != ICEPATH_QOS_INFINITE)
			value = *qos[i];
	}
	return json;
}

model::Qos qos_from_json(const nlohmann::ordered_json &json)
{
	model::Qos qos;
	for (size_t i = 0; i < qos.size(); i++) {
		const model::QosPolicy &policy = model::kQosPolicies[i];
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
		if (!model::is_possible(static_cast<icepath_qos_policy>(i), *qos[i]))
			wrong(key.c_str(), "is larger or smaller than it can be");
	}
	return qos;
}

} // namespace icepath::rundir
