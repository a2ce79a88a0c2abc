// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/cell_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "profiler/rundir/json_field.h"
#include "profiler/rundir/limits.h"

namespace icepath::rundir {
namespace {

using Json = nlohmann::ordered_json;

template <typename Enum, size_t N> Json words_of(model::SetOf<Enum> set, const char *const (&names)[N])
{
	Json words = Json::array();
	for (size_t i = 0; i < N; ++i)
		if (set.has(static_cast<Enum>(i)))
			words.push_back(names[i]);
	return words;
}

template <typename Enum, size_t N>
model::SetOf<Enum> set_from_json(const Json &json, const char *key, const char *const (&names)[N])
{
	model::SetOf<Enum> set;
	for (const Json &word : array_field(json, key, N))
		set.add(enum_item<Enum>(word, key, names));
	return set;
}

Json to_json(const model::Levels &levels)
{
	Json json = Json::object();
	for (const model::Factor &factor : model::kFactors)
		json[factor.key] = levels.*factor.level;
	return json;
}

model::Levels levels_from_json(const Json &json, model::Pattern pattern)
{
	model::Levels levels;
	for (const model::Factor &factor : model::kFactors) {
		uint64_t &level = levels.*factor.level;
		if (json.contains(factor.key)) // absent in runs from before there was that factor
			level = unsigned_field(json, factor.key);
		if (!model::can_be(factor, pattern, level))
			wrong(factor.key, "is no level of its factor, or its pattern doesn't have that");
	}
	return levels;
}

Json to_json(const model::Offers &offers)
{
	Json qos = Json::array();
	for (size_t policy = 0; policy < model::kQosPolicies.size(); ++policy)
		if ((offers.qos >> policy & 1u) != 0)
			qos.push_back(model::kQosPolicies[policy].name);
	return {{"waits", words_of(offers.waits, model::kWaitNames)}, {"qos", qos}, {"daemon", offers.daemon}};
}

model::Offers offers_from_json(const Json &json)
{
	model::Offers offers;
	offers.waits = set_from_json<model::Wait>(json, "waits", model::kWaitNames);
	for (const Json &word : array_field(json, "qos", model::kQosPolicies.size())) {
		const auto policy = std::ranges::find_if(
			model::kQosPolicies, [&](const model::QosPolicy &one) { return word.is_string() && word == one.name; });
		if (policy == model::kQosPolicies.end())
			wrong("qos", "has a word that is no policy");
		offers.qos |= 1u << (policy - model::kQosPolicies.begin());
	}
	offers.daemon = bool_field(json, "daemon");
	return offers;
}

Json to_json(const model::Graph &graph)
{
	Json sides = Json::array(), channels = Json::array(), flows = Json::array();
	for (const model::Side &side : graph.sides)
		sides.push_back({{"process", side.process}, {"thread", side.thread}, {"cpu", side.cpu}});
	for (const model::Channel &channel : graph.channels)
		channels.push_back({{"begins", channel.begins}, {"receives", channel.receives}});
	for (const model::Flow &flow : graph.flows)
		flows.push_back({{"from", flow.from}, {"to", flow.to}, {"channel", flow.channel}});
	return {{"sides", sides}, {"channels", channels}, {"flows", flows}};
}

uint32_t index_field(const Json &json, const char *key, size_t size)
{
	const uint32_t index = u32_field(json, key);
	if (index >= size)
		wrong(key, "names something that the graph doesn't have");
	return index;
}

model::Graph graph_from_json(const Json &json)
{
	model::Graph graph;
	for (const Json &side : array_field(json, "sides", kMaxSides))
		graph.sides.push_back({u32_field(side, "process"), u32_field(side, "thread"), u32_field(side, "cpu")});
	if (graph.sides.size() < 2)
		wrong("sides", "has fewer than two items");
	for (const Json &one : array_field(json, "channels", kMaxChannels)) {
		const model::Channel channel{index_field(one, "begins", graph.sides.size()),
									 index_field(one, "receives", graph.sides.size())};
		if (channel.begins == channel.receives)
			wrong("channels", "has one that joins a side with itself");
		graph.channels.push_back(channel);
	}
	for (const Json &one : array_field(json, "flows", 2 * kMaxChannels)) {
		const model::Flow flow{index_field(one, "from", graph.sides.size()), index_field(one, "to", graph.sides.size()),
							   index_field(one, "channel", graph.channels.size())};
		const model::Channel &channel = graph.channels[flow.channel];
		const bool forth = flow.from == channel.begins && flow.to == channel.receives;
		if (!forth && (flow.from != channel.receives || flow.to != channel.begins))
			wrong("flows", "has one that isn't along its channel");
		// First each channel's own flow, in the order of channels: their indexes identify messages.
		if (const size_t i = graph.flows.size(); i < graph.channels.size() && (!forth || flow.channel != i))
			wrong("flows", "doesn't begin with each channel's own flow, in order");
		graph.flows.push_back(flow);
	}
	if (graph.channels.empty() || graph.flows.size() < graph.channels.size())
		wrong("flows", "has fewer items than there are channels, of which there is at least one");
	return graph;
}

void check_answers(const model::Graph &graph)
{
	if (graph.flows.size() != 2 * graph.channels.size())
		wrong("flows", "doesn't have one back along each channel");
	for (size_t i = 0; i < graph.channels.size(); ++i)
		if (const model::Flow &back = graph.flows[graph.channels.size() + i];
			back.channel != i || back.from != graph.channels[i].receives)
			wrong("flows", "doesn't have one back along each channel, in their order");
}

} // namespace

Json to_json(const model::Cell &cell)
{
	Json json = {
		{"target", cell.target},
		{"kind", cell.kind},
		{"library", cell.library},
		{"summary", cell.summary},
		{"pattern", name(cell.pattern)},
		{"wait", name(cell.wait)},
		{"payload_bytes", cell.payload_bytes},
		{"parts", cell.parts},
		{"rate_hz", cell.rate_hz ? Json(*cell.rate_hz) : Json(nullptr)},
		{"limits", cell.limits ? Json{{"max_loss", cell.limits->max_loss}, {"max_p99_ns", cell.limits->max_p99_ns}}
							   : Json(nullptr)},
		{"mechanisms", words_of(cell.mechanisms, model::kMechanismNames)},
		{"traits", words_of(cell.traits, model::kTraitNames)},
		{"qos", {{"asked", rundir::to_json(cell.qos)}, {"granted", rundir::to_json(cell.granted)}}},
		{"levels", to_json(cell.levels)},
		{"idle_states", name(cell.idle_states)},
		{"graph", to_json(cell.graph)},
		{"calibrated",
		 cell.calibrated ? Json{{"ready", cell.calibrated->ready}, {"taken", cell.calibrated->taken}} : Json(nullptr)}};
	if (!cell.arm.empty())
		json["arm"] = cell.arm;
	if (cell.offers)
		json["offers"] = to_json(*cell.offers);
	return json;
}

model::Cell cell_from_json(const Json &json)
{
	model::Cell cell;
	cell.target = name_field(json, "target");
	if (json.contains("arm"))
		cell.arm = name_field(json, "arm");
	cell.kind = name_field(json, "kind");
	cell.library = name_field(json, "library");
	if (json.contains("summary")) // absent in runs from before it was recorded
		cell.summary = name_field(json, "summary");
	cell.pattern = enum_field<model::Pattern>(json, "pattern", model::kPatternNames);
	cell.wait = enum_field<model::Wait>(json, "wait", model::kWaitNames);
	cell.payload_bytes = unsigned_field(json, "payload_bytes");
	cell.parts = u32_field(json, "parts");
	if (!field(json, "rate_hz").is_null()) {
		cell.rate_hz = number_field(json, "rate_hz");
		if (!std::isfinite(*cell.rate_hz) || *cell.rate_hz <= 0)
			wrong("rate_hz", "isn't above zero");
	}
	if (!field(json, "limits").is_null()) {
		const Json &limits = object_field(json, "limits");
		cell.limits = model::RateLimits{number_field(limits, "max_loss"), unsigned_field(limits, "max_p99_ns")};
		if (!(cell.limits->max_loss >= 0 && cell.limits->max_loss < 1) || cell.limits->max_p99_ns == 0)
			wrong("limits", "has a loss outside of 0 to 1 or a p99 of 0");
	}
	cell.mechanisms = set_from_json<model::Mechanism>(json, "mechanisms", model::kMechanismNames);
	cell.traits = set_from_json<model::Trait>(json, "traits", model::kTraitNames);
	if (json.contains("offers")) // absent in runs from before it was recorded
		cell.offers = offers_from_json(object_field(json, "offers"));
	cell.qos = qos_from_json(object_field(object_field(json, "qos"), "asked"));
	cell.granted = qos_from_json(object_field(object_field(json, "qos"), "granted"));
	cell.levels = levels_from_json(object_field(json, "levels"), cell.pattern);
	if (json.contains("idle_states")) // absent in runs from before CPUs were kept awake
		cell.idle_states = enum_field<model::IdleStates>(json, "idle_states", model::kIdleStatesNames);
	cell.graph = graph_from_json(object_field(json, "graph"));
	if (model::is_answered(cell.pattern))
		check_answers(cell.graph);
	if (!field(json, "calibrated").is_null()) {
		const Json &calibrated = object_field(json, "calibrated");
		cell.calibrated = model::CallShares{share_field(calibrated, "ready"), share_field(calibrated, "taken")};
	}
	return cell;
}

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
