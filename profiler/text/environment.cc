// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/environment.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "profiler/explain/trust.h"

namespace icepath::text {
namespace {

constexpr const char *kBetween = " · ";

void append(std::string &list, const std::string &item, const char *between = kBetween)
{
	list += (list.empty() ? "" : between) + item;
}

std::vector<std::string> machine_of(const model::Host &host)
{
	std::vector<std::string> machine;
	const auto add = [&](const std::string &what, const std::string &value) {
		if (!value.empty())
			machine.push_back(what + value);
	};
	add("", host.hostname);
	add("kernel ", host.kernel + (host.preempt_rt == true ? " PREEMPT_RT" : ""));
	add("", host.cpu_model);
	if (host.cpus_online)
		add("", fmt::format("{} CPUs", *host.cpus_online));
	add("clock ", host.clocksource);
	if (host.hypervisor == true)
		add("", "under a hypervisor");
	if (machine.empty())
		machine.emplace_back("unknown machine");
	return machine;
}

std::string level_of(const model::Isolation &isolation)
{
	return isolation.level ? model::kIsolationLevelNames[static_cast<size_t>(*isolation.level)] : "";
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
	const std::vector<std::string> machine = machine_of(head.host);
	const model::Isolation &isolation = head.isolation;
	std::vector<std::string> cpus = {isolation.why.empty() ? "unknown CPUs" : isolation.why};
	if (!brief) {
		page.paragraph("", fitting(machine, SIZE_MAX), 0);
		page.paragraph("", cpus[0], 0);
		return;
	}
	if (isolation.level)
		cpus.push_back("isolation " + level_of(isolation));
	for (const model::IsolationStep &step : isolation.steps)
		if (step.state == model::IsolationState::NotPossible)
			cpus.push_back(step.name + " not possible");
	page.line(page.spelled(fitting(machine, page.width())));
	page.line(page.spelled(fitting(cpus, page.width())));
}

void add_isolation(Page &page, const model::Head &head)
{
	std::string steps;
	for (const model::IsolationStep &step : head.isolation.steps) {
		std::string state = model::kIsolationStateNames[static_cast<size_t>(step.state)];
		std::ranges::replace(state, '_', ' ');
		append(steps, fmt::format("{} {} ({})", step.name, state, step.found));
	}
	if (!steps.empty())
		page.paragraph("", fmt::format("isolation {}: {}", level_of(head.isolation), steps), 0);
}

void add_noise(Page &page, const model::Head &head)
{
	const auto noise = explain::noise_of(head);
	if (!noise || noise->empty()) {
		page.paragraph("noise", noise ? "none of the known kinds" : "unknown");
		return;
	}
	std::string label = "noise";
	for (const model::Disturbance &item : *noise) {
		std::string text = fmt::format("{}: {}", item.name, item.found);
		if (!item.effect.empty())
			text += " → " + item.effect;
		if (!item.remedy.empty())
			text += " · fix: " + item.remedy;
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

} // namespace icepath::text
