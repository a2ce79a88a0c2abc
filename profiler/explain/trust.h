// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far to trust a run.
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/aggregate.h"
#include "profiler/model/fitness.h"

namespace icepath::explain {

struct Doubt {
	std::string word; // "ok", "wide", "changed", "noisy", "partly", "lost", …
	std::vector<std::string> facts; // what it rests on, the most important first
	std::string remedy; // the option or command that mends it; empty if nothing is to be mended
};

// What wasn't isolated; nothing if the run didn't look for it.
std::optional<std::vector<model::Disturbance>> noise_of(const model::Head &head);

// Widths of intervals; the machine; how much of the layers is known; what was lost or is missing.
std::vector<Doubt> doubts(const analysis::RunResult &result);

// Judged by the look at the CPUs before the first block, by what a hypervisor took in all, and by all round trips of
// cache lines between the CPUs.
std::vector<model::Fitness> fitness_of(const analysis::RunResult &result);
// What makes the run unfit for tails. Empty: it is fit, or that wasn't measured.
std::string unfit_for_tails(const analysis::RunResult &result);

} // namespace icepath::explain
