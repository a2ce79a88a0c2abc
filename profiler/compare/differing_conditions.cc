// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/differing_conditions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profiler/model/qos.h"

namespace icepath::compare {
namespace {

struct Texts {
	ConditionId id;
	Keeps keeps;
	std::string a, b;
};

void add_differing(const Texts &texts, std::vector<Condition> &conditions)
{
	const bool is_of_host = texts.id == ConditionId::Machine || texts.id == ConditionId::Kernel;
	if (texts.a != texts.b || (is_of_host && texts.a.empty()))
		conditions.push_back({texts.id, texts.a, texts.b, texts.keeps});
}

std::string machine_text(const model::Host &host)
{
	std::string text = host.hostname;
	if (!host.cpu_model.empty())
		text += (text.empty() ? "" : ", ") + host.cpu_model;
	return text + (host.cpus_online ? fmt::format(" ×{}", *host.cpus_online) : "");
}

std::string kernel_text(const model::Host &host)
{
	return host.kernel + (host.kernel_version.empty() ? "" : " " + host.kernel_version);
}

std::string mitigations_text(const model::Host &host)
{
	std::string text;
	for (const auto &[weakness, what] : host.mitigations)
		text += (text.empty() ? "" : "; ") + weakness + ": " + what;
	return text;
}

std::string isolation_text(const model::Isolation &isolation)
{
	return isolation.level ? model::kIsolationLevelNames[static_cast<size_t>(*isolation.level)] : "";
}

// "wakeup: tracepoint"
void add_tiers(const model::Head &a, const model::Head &b, std::vector<Condition> &conditions)
{
	const auto tier_in = [](const model::Head &head, const std::string &layer) {
		const auto found = std::ranges::find(head.probes, layer, &model::ProbeUse::layer);
		return found == head.probes.end() ? std::string() : fmt::format("{}: {}", layer, found->tier);
	};
	for (const model::ProbeUse &probe : a.probes)
		add_differing({ConditionId::Tier, Keeps::Layers, tier_in(a, probe.layer), tier_in(b, probe.layer)}, conditions);
	for (const model::ProbeUse &probe : b.probes)
		if (tier_in(a, probe.layer).empty())
			add_differing({ConditionId::Tier, Keeps::Layers, "", tier_in(b, probe.layer)}, conditions);
}

} // namespace

std::vector<Condition> differing_runs(const model::Head &a, const model::Head &b)
{
	std::vector<Condition> conditions;
	for (const Texts &texts :
		 {Texts{ConditionId::Machine, Keeps::Verdicts, machine_text(a.host), machine_text(b.host)},
		  Texts{ConditionId::Kernel, Keeps::Verdicts, kernel_text(a.host), kernel_text(b.host)},
		  Texts{ConditionId::Mitigations, Keeps::Verdicts, mitigations_text(a.host), mitigations_text(b.host)},
		  Texts{ConditionId::Clock, Keeps::Verdicts, a.host.clocksource, b.host.clocksource},
		  Texts{ConditionId::Isolation, Keeps::Verdicts, isolation_text(a.isolation), isolation_text(b.isolation)},
		  Texts{ConditionId::DaemonCpus, Keeps::Verdicts, a.isolation.daemon_cpus, b.isolation.daemon_cpus},
		  Texts{ConditionId::Icepath, Keeps::Nothing, a.icepath_version, b.icepath_version}})
		add_differing(texts, conditions);
	add_tiers(a, b, conditions);
	return conditions;
}

std::vector<Condition> differing_cells(const model::Cell &a, const model::Cell &b, bool is_of_one_run)
{
	const auto cpus = [](const model::Cell &cell) {
		return fmt::format("{}", fmt::join(model::cpus_by_side(cell), ","));
	};
	std::vector<Condition> conditions;
	add_differing({ConditionId::Cpus, Keeps::Verdicts, cpus(a), cpus(b)}, conditions);
	add_differing({ConditionId::Qos, is_of_one_run ? Keeps::Nothing : Keeps::Verdicts, model::text(a.granted),
				   model::text(b.granted)},
				  conditions);
	add_differing({ConditionId::Library, Keeps::Nothing, a.library, b.library}, conditions);
	return conditions;
}

bool keeps_verdicts(const std::vector<Condition> &conditions)
{
	return std::ranges::find(conditions, Keeps::Verdicts, &Condition::keeps) != conditions.end();
}

} // namespace icepath::compare
