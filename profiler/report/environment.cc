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

std::string machine_of(const json &host)
{
	std::string machine;
	const auto add = [&](const std::string &what, const std::string &value) {
		if (!value.empty())
			append(machine, what + value);
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
	return machine.empty() ? "unknown machine" : machine;
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

void add_machine(Page &page, const model::Head &head)
{
	page.paragraph("", machine_of(rundir::parse_object(head.host_json)), 0);
	const std::string why = text_of(rundir::parse_object(head.isolation_json), "why");
	page.paragraph("", why.empty() ? "unknown CPUs" : why, 0);
}

void add_isolation(Page &page, const model::Head &head, bool verbose)
{
	const json isolation = rundir::parse_object(head.isolation_json);
	if (!isolation.contains("steps") || !isolation["steps"].is_array())
		return;
	std::string steps;
	for (const json &step : isolation["steps"]) {
		std::string state = text_of(step, "state");
		std::ranges::replace(state, '_', ' ');
		const std::string found = state == "done" && !verbose ? "" : fmt::format(" ({})", text_of(step, "found"));
		append(steps, fmt::format("{} {}{}", text_of(step, "name"), state, found));
	}
	page.paragraph("", fmt::format("isolation {}: {}", text_of(isolation, "level"), steps), 0);
}

void add_noise(Page &page, const model::Head &head, bool verbose)
{
	const json isolation = rundir::parse_object(head.isolation_json);
	const std::vector<json> noise = noise_of(isolation);
	if (noise.empty()) {
		const bool looked = isolation.is_object() && isolation.contains("items");
		page.paragraph("noise", looked ? "none of the known kinds" : "unknown");
		return;
	}
	std::string label = "noise", all;
	for (const json &item : noise) {
		std::string text = fmt::format("{}: {}", text_of(item, "name"), text_of(item, "found"));
		append(all, text);
		if (!verbose)
			continue;
		for (const auto &[key, before] : {std::pair{"effect", " → "}, {"remedy", " · to mend it: "}})
			if (const std::string more = text_of(item, key); !more.empty())
				text += before + more;
		page.paragraph(label, text);
		label = "";
	}
	if (!verbose)
		page.paragraph(label, all);
}

void add_probes(Page &page, const model::Head &head, bool verbose)
{
	std::string label = "probes";
	std::vector<std::pair<std::string, std::string>> by_tier;
	for (const Purpose &one : purposes(head.probes)) {
		const std::string text = fmt::format("{} ← {}", one.layers, one.probes);
		if (verbose) {
			page.paragraph(label, text + fmt::format(" ({})", one.tier));
			label = "";
			continue;
		}
		const auto at = std::ranges::find(by_tier, one.tier, &std::pair<std::string, std::string>::first);
		append(at == by_tier.end() ? by_tier.emplace_back(one.tier, "").second : at->second, text);
	}
	for (const auto &[tier, text] : by_tier) {
		page.paragraph(label, tier + ": " + text);
		label = "";
	}
}

} // namespace icepath::report
