// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "profiler/model/layers.h"

namespace icepath::doctor {
namespace {

// The stamps that show a layer without probes, on every kernel; empty: none do.
constexpr std::string_view stamps_of(model::Layer layer)
{
	switch (layer) {
	case model::Layer::SenderUser:
	case model::Layer::SenderKernel:
		return "the sender's stamps around each call";
	case model::Layer::Queue:
	case model::Layer::ReceiverKernel:
	case model::Layer::ReceiverUser:
		return "the receiver's stamps around each call";
	case model::Layer::Propagation:
		return "the stamps of publishing and observing, in shared memory";
	default:
		return "";
	}
}

std::string with_note(std::string_view name, std::string_view note)
{
	return note.empty() ? std::string(name) : fmt::format("{} ({})", name, note);
}

void append(std::string &all, const std::string &one, const char *separator)
{
	if (!one.empty())
		all += (all.empty() ? "" : separator) + one;
}

Check layer_check(model::Layer layer, const capture::Selection &tried)
{
	Check check{fmt::format("layer {}", name(layer)), Verdict::Ok, std::string(stamps_of(layer)), "", ""};
	std::array<std::string, std::size(capture::kTierNames)> by_tier;
	std::map<std::string_view, std::string> missing; // by the substitute
	for (size_t i = 0; i < capture::kProbes.size(); i++) {
		const capture::Probe &probe = capture::kProbes[i];
		const auto use = probe.uses.of(layer);
		if (!use)
			continue;
		const capture::Trial &trial = tried[i];
		if (trial.works) {
			append(by_tier[static_cast<size_t>(trial.candidate.tier)], with_note(trial.candidate.target, *use), ", ");
			continue;
		}
		check.verdict = std::max(check.verdict, is_essential(probe) ? Verdict::Fail : Verdict::Warn);
		append(missing[probe.instead], with_note(probe.name, *use), ", ");
	}
	for (size_t tier = 0; tier < by_tier.size(); tier++)
		if (!by_tier[tier].empty())
			append(check.found, fmt::format("{} {}", capture::kTierNames[tier], by_tier[tier]), "; ");
	for (const auto &[instead, probes] : missing)
		append(check.effect, fmt::format("for want of {}: told by {}", probes, instead), "; ");
	if (!missing.empty())
		check.remedy = "see what is said of these probes";
	// Probes of a layer's parts are useless without its essential probes.
	if (check.found.empty() || (check.verdict == Verdict::Fail && stamps_of(layer).empty()))
		check.found = "nothing tells it here";
	return check;
}

} // namespace

std::vector<Check> layer_checks(const capture::Selection &tried)
{
	std::vector<Check> checks;
	for (size_t layer = 0; layer < model::kLayerCount; layer++)
		checks.push_back(layer_check(static_cast<model::Layer>(layer), tried));
	return checks;
}

} // namespace icepath::doctor
