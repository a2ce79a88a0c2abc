// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/conditions_json.h"

#include "profiler/rundir/json_field.h"
#include "profiler/rundir/limits.h"

namespace icepath::rundir {
namespace {

using Json = nlohmann::ordered_json;

void add(Json &json, const char *key, const std::string &text)
{
	if (!text.empty())
		json[key] = text;
}

template <typename Value> void add(Json &json, const char *key, const std::optional<Value> &value)
{
	if (value)
		json[key] = *value;
}

std::string text_if_any(const Json &json, const char *key) { return json.contains(key) ? text_field(json, key) : ""; }

std::optional<bool> bool_if_any(const Json &json, const char *key)
{
	return json.contains(key) ? std::optional(bool_field(json, key)) : std::nullopt;
}

std::optional<uint64_t> unsigned_if_any(const Json &json, const char *key)
{
	return json.contains(key) ? std::optional(unsigned_field(json, key)) : std::nullopt;
}

std::optional<uint32_t> cpu_if_any(const Json &json, const char *key)
{
	return json.contains(key) ? std::optional(u32_field(json, key)) : std::nullopt;
}

Json to_json(const model::IsolationStep &step)
{
	return {{"name", step.name},
			{"state", model::kIsolationStateNames[static_cast<size_t>(step.state)]},
			{"found", step.found},
			{"remedy", step.remedy}};
}

Json to_json(const model::Disturbance &item)
{
	return {{"name", item.name},
			{"quiet", item.quiet},
			{"found", item.found},
			{"effect", item.effect},
			{"remedy", item.remedy}};
}

} // namespace

Json to_json(const model::Host &host)
{
	Json json = Json::object();
	add(json, "hostname", host.hostname);
	add(json, "kernel", host.kernel);
	add(json, "kernel_version", host.kernel_version);
	add(json, "preempt_rt", host.preempt_rt);
	add(json, "nohz_full", host.nohz_full);
	add(json, "machine", host.machine);
	add(json, "cpu_model", host.cpu_model);
	add(json, "cpus_online", host.cpus_online);
	add(json, "memory_bytes", host.memory_bytes);
	add(json, "clocksource", host.clocksource);
	add(json, "hypervisor", host.hypervisor);
	json["mitigations"] = Json::object();
	for (const auto &[weakness, state] : host.mitigations)
		json["mitigations"][weakness] = state;
	add(json, "user", host.user);
	add(json, "plain_root", host.plain_root);
	add(json, "fifo", host.fifo);
	add(json, "fifo_of_middleware", host.fifo_of_middleware);
	return json;
}

model::Host host_from_json(const Json &json)
{
	model::Host host;
	host.hostname = text_if_any(json, "hostname");
	host.kernel = text_if_any(json, "kernel");
	host.kernel_version = text_if_any(json, "kernel_version");
	host.preempt_rt = bool_if_any(json, "preempt_rt");
	host.nohz_full = bool_if_any(json, "nohz_full");
	host.machine = text_if_any(json, "machine");
	host.cpu_model = text_if_any(json, "cpu_model");
	host.cpus_online = unsigned_if_any(json, "cpus_online");
	host.memory_bytes = unsigned_if_any(json, "memory_bytes");
	host.clocksource = text_if_any(json, "clocksource");
	host.hypervisor = bool_if_any(json, "hypervisor");
	if (json.contains("mitigations"))
		for (const auto &[weakness, state] : object_field(json, "mitigations").items())
			host.mitigations.emplace_back(weakness, text_field(json["mitigations"], weakness.c_str()));
	host.user = text_if_any(json, "user");
	host.plain_root = bool_if_any(json, "plain_root");
	host.fifo = bool_if_any(json, "fifo");
	host.fifo_of_middleware = bool_if_any(json, "fifo_of_middleware");
	return host;
}

Json to_json(const model::Isolation &isolation)
{
	Json json = Json::object();
	add(json, "sender_cpu", isolation.sender_cpu);
	add(json, "receiver_cpu", isolation.receiver_cpu);
	add(json, "housekeeping_cpus", isolation.housekeeping_cpus);
	add(json, "daemon_cpus", isolation.daemon_cpus);
	add(json, "why", isolation.why);
	if (isolation.items)
		json["items"] = Json::array();
	for (const model::Disturbance &item : isolation.items.value_or(std::vector<model::Disturbance>()))
		json["items"].push_back(to_json(item));
	if (isolation.level)
		json["level"] = model::kIsolationLevelNames[static_cast<size_t>(*isolation.level)];
	for (const model::IsolationStep &step : isolation.steps)
		json["steps"].push_back(to_json(step));
	return json;
}

model::Isolation isolation_from_json(const Json &json)
{
	model::Isolation isolation;
	isolation.sender_cpu = cpu_if_any(json, "sender_cpu");
	isolation.receiver_cpu = cpu_if_any(json, "receiver_cpu");
	isolation.housekeeping_cpus = text_if_any(json, "housekeeping_cpus");
	isolation.daemon_cpus = text_if_any(json, "daemon_cpus");
	isolation.why = text_if_any(json, "why");
	if (json.contains("items")) {
		isolation.items.emplace();
		for (const Json &item : array_field(json, "items", kMaxConditions))
			isolation.items->push_back({name_field(item, "name"), bool_field(item, "quiet"), text_field(item, "found"),
										text_field(item, "effect"), text_field(item, "remedy")});
	}
	if (json.contains("level"))
		isolation.level = enum_field<model::IsolationLevel>(json, "level", model::kIsolationLevelNames);
	if (json.contains("steps"))
		for (const Json &step : array_field(json, "steps", kMaxConditions))
			isolation.steps.push_back({name_field(step, "name"),
									   enum_field<model::IsolationState>(step, "state", model::kIsolationStateNames),
									   text_field(step, "found"), text_field(step, "remedy")});
	return isolation;
}

} // namespace icepath::rundir
