// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far to trust a run.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/run_result.h"
#include "profiler/explain/finding.h"
#include "profiler/model/fitness.h"

namespace icepath::explain {

// How far to trust one of the topics. Unknown: it wasn't looked at.
enum class Grade : uint8_t { Ok, Wide, Partly, Changed, Noisy, Unknown, None, Lost, Flawed };
inline constexpr std::array<std::string_view, 9> kGradeNames = {"ok",      "wide", "partly", "changed", "noisy",
																"unknown", "none", "lost",   "flawed"};

inline std::string_view name_of(Grade grade) { return kGradeNames.at(static_cast<size_t>(grade)); }

struct Trust {
	Topic topic = Topic::Precision;
	Grade grade = Grade::Ok;
	std::vector<Finding> findings = {}; // what it rests on, the most important first
	Mend mend = Mend::None;
	std::optional<double> needed_s = {}; // of MeasureLonger: how long a run to try
};

// What wasn't isolated; nothing if the run didn't look for it.
std::optional<std::vector<model::Disturbance>> noise_of(const model::Head &head);

// Widths of intervals; the machine; how much of the layers is known; what was lost or is missing.
std::vector<Trust> trust_in(const analysis::RunResult &result);

// Judged by the look at the CPUs before the first block, by what a hypervisor took in all, and by all round trips of
// cache lines between the CPUs.
std::vector<model::Fitness> fitness_of(const analysis::RunResult &result);
// Nothing: the run is fit for tails, or that wasn't measured.
std::optional<model::Fitness> unfit_for_tails(const analysis::RunResult &result);
// A finding for each purpose.
std::vector<Finding> fitness_findings(const analysis::RunResult &result);

} // namespace icepath::explain
