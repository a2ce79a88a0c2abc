// SPDX-License-Identifier: Apache-2.0
#pragma once
// In what two runs, or two cells, differ besides what is compared.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/cell.h"
#include "profiler/model/run.h"

namespace icepath::compare {

enum class ConditionId : uint8_t {
	Machine,
	Kernel,
	Mitigations,
	Clock,
	Isolation,
	Cpus, // of the sides
	DaemonCpus,
	Qos, // as granted
	Tier, // of the probes of a layer
	Library, // its version
	Icepath,
};
inline constexpr std::array<std::string_view, 11> kConditionNames = {"machine",   "kernel",  "mitigations", "clock",
																	 "isolation", "cpus",    "daemon_cpus", "qos",
																	 "tier",      "library", "icepath"};
inline std::string_view name_of(ConditionId id) { return kConditionNames.at(static_cast<size_t>(id)); }

// What a difference of the condition keeps from being compared.
enum class Keeps : uint8_t { Nothing, Layers, Verdicts };
inline constexpr std::array<std::string_view, 3> kKeepsNames = {"nothing", "layers", "verdicts"};

struct Condition {
	ConditionId id = ConditionId::Machine;
	std::string a, b; // empty: not recorded; both: it isn't known whether they differ
	Keeps keeps = Keeps::Nothing;
	friend bool operator==(const Condition &, const Condition &) = default;
};

// A machine or kernel that neither run recorded is one of them: it isn't known to be the same.
std::vector<Condition> differing_runs(const model::Head &a, const model::Head &b);

// `is_of_one_run`: what library and quality of service an arm has is part of what is compared.
std::vector<Condition> differing_cells(const model::Cell &a, const model::Cell &b, bool is_of_one_run);

bool keeps_verdicts(const std::vector<Condition> &conditions);

} // namespace icepath::compare
