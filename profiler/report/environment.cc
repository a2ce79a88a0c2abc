// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/environment.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "profiler/report/quantity.h"
#include "profiler/rundir/json_text.h"

namespace icepath::report {
namespace {

using json = nlohmann::ordered_json;

constexpr const char *kBetween = " · ";

std::string text_of(const json &object, const char *key)
{
	const auto at = object.is_object() ? object.find(key) : object.end();
	return object.is_object() && at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

void append(std::string &list, const std::string &item, const char *between = kBetween)
{
	list += (list.empty() ? "" : between) + item;
}

std::vector<std::string> machine_of(const json &host)
{
	std::vector<std::string> machine;
	const auto add = [&](const std::string &what, const std::string &value) {
		if (!value.empty())
			machine.push_back(what + value);
	};
	add("", text_of(host, "hostname"));
	const bool preempt_rt = host.is_object() && host.contains("preempt_rt") && host["preempt_rt"] == true;
	add("kernel ", text_of(host, "kernel") + (preempt_rt ? " PREEMPT_RT" : ""));
	add("", text_of(host, "cpu_model"));
	if (host.is_object() && host.contains("cpus_online") && host["cpus_online"].is_number_unsigned())
		add("", fmt::format("{} CPUs", host["cpus_online"].get<uint64_t>()));
	add("clock ", text_of(host, "clocksource"));
	if (host.is_object() && host.contains("hypervisor") && host["hypervisor"] == true)
		add("", "under a hypervisor");
	if (machine.empty())
		machine.emplace_back("unknown machine");
	return machine;
}

// Steps of isolation_json: see cpuset::to_json.
std::vector<json> steps_of(const json &isolation)
{
	std::vector<json> steps;
	if (isolation.is_object() && isolation.contains("steps") && isolation["steps"].is_array())
		for (const json &step : isolation["steps"])
			steps.push_back(step);
	return steps;
}

// Items of isolation_json that aren't quiet: see cpuset::to_json.
std::vector<json> noise_of(const json &isolation)
{
	std::vector<json> noise;
	if (isolation.is_object() && isolation.contains("items") && isolation["items"].is_array())
		for (const json &item : isolation["items"])
			if (item.is_object() && item.value("quiet", json(true)) == false)
				noise.push_back(item);
	return noise;
}

// Several probes serve one purpose; purposes are in the order of first use.
struct Purpose {
	std::string layers, tier, probes;
};

std::vector<Purpose> purposes(const std::vector<model::ProbeUse> &uses)
{
	std::vector<Purpose> found;
	for (const model::ProbeUse &use : uses) {
		const auto at = std::ranges::find_if(
			found, [&](const Purpose &one) { return one.layers == use.layer && one.tier == use.tier; });
		if (at == found.end())
			found.push_back({use.layer, use.tier, use.probe});
		else
			at->probes += ", " + use.probe;
	}
	return found;
}

} // namespace

void add_machine(Page &page, const model::Head &head, bool brief)
{
	const std::vector<std::string> machine = machine_of(rundir::parse_object(head.host_json));
	const json isolation = rundir::parse_object(head.isolation_json);
	const std::string why = text_of(isolation, "why");
	std::vector<std::string> cpus = {why.empty() ? "unknown CPUs" : why};
	if (!brief) {
		page.paragraph("", fitting(machine, SIZE_MAX), 0);
		page.paragraph("", cpus[0], 0);
		return;
	}
	if (const std::string level = text_of(isolation, "level"); !level.empty())
		cpus.push_back("isolation " + level);
	for (const json &step : steps_of(isolation))
		if (text_of(step, "state") == "not_possible")
			cpus.push_back(text_of(step, "name") + " not possible");
	page.line(page.spelled(fitting(machine, page.width())));
	page.line(page.spelled(fitting(cpus, page.width())));
}

void add_isolation(Page &page, const model::Head &head)
{
	const json isolation = rundir::parse_object(head.isolation_json);
	std::string steps;
	for (const json &step : steps_of(isolation)) {
		std::string state = text_of(step, "state");
		std::ranges::replace(state, '_', ' ');
		append(steps, fmt::format("{} {} ({})", text_of(step, "name"), state, text_of(step, "found")));
	}
	if (!steps.empty())
		page.paragraph("", fmt::format("isolation {}: {}", text_of(isolation, "level"), steps), 0);
}

std::optional<std::vector<std::string>> noise_names(const model::Head &head)
{
	const json isolation = rundir::parse_object(head.isolation_json);
	if (!isolation.is_object() || !isolation.contains("items"))
		return std::nullopt;
	std::vector<std::string> names;
	for (const json &item : noise_of(isolation))
		names.push_back(text_of(item, "name"));
	return names;
}

void add_noise(Page &page, const model::Head &head)
{
	const std::vector<json> noise = noise_of(rundir::parse_object(head.isolation_json));
	if (noise.empty()) {
		page.paragraph("noise", noise_names(head) ? "none of the known kinds" : "unknown");
		return;
	}
	std::string label = "noise";
	for (const json &item : noise) {
		std::string text = fmt::format("{}: {}", text_of(item, "name"), text_of(item, "found"));
		for (const auto &[key, before] : {std::pair{"effect", " → "}, {"remedy", " · to mend it: "}})
			if (const std::string more = text_of(item, key); !more.empty())
				text += before + more;
		page.paragraph(label, text);
		label = "";
	}
}

void add_probes(Page &page, const model::Head &head)
{
	std::string label = "probes";
	std::vector<std::pair<std::string, std::string>> by_reason; // of those that don't work
	for (const Purpose &one : purposes(head.probes)) {
		if (one.tier != "none") {
			page.paragraph(label, fmt::format("{} ← {} ({})", one.layers, one.probes, one.tier));
			label = "";
			continue;
		}
		// "its announcement, …, without skb_queue_tail (no fentry, no kprobe)"
		const size_t name = std::min(one.probes.rfind(", without "), one.probes.size());
		const size_t reason = std::min(one.probes.find(" (", name), one.probes.size());
		const std::string why = one.probes.substr(reason);
		const auto at = std::ranges::find(by_reason, why, &std::pair<std::string, std::string>::first);
		append(at == by_reason.end() ? by_reason.emplace_back(why, "").second : at->second,
			   fmt::format("{} ← {}", one.layers, one.probes.substr(0, reason)));
	}
	for (const auto &[why, text] : by_reason) {
		page.paragraph(label, fmt::format("none: {}{}", text, why));
		label = "";
	}
}

} // namespace icepath::report
