// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of remedies (explain/remedies.h), and of what to look at next.
#include <string>
#include <string_view>
#include <vector>

#include "profiler/explain/remedies.h"
#include "profiler/explain/tail.h"

namespace icepath::text {

// What takes the time, and what can be done about it: "tasks on these CPUs (hog): take other CPUs (--cpus)". `cell`:
// that has the time.
std::string advice(const explain::Remedy &remedy, const model::Cell &cell);

struct Step {
	std::string text;
	std::string command = {}; // that shows it; empty: none
};

// A step for each remedy. `of`: what is to be shortened ("the growth"). `with_shares`: whether shares of it say
// something; otherwise the steps give µs.
std::vector<Step> steps_of(const std::vector<explain::Remedy> &remedies, const model::Cell &cell, std::string_view of,
						   bool with_shares);

// What helps against the mode in which the tail without probes begins: commands that say more, cells of the run without
// modes, and a trial. Empty if there is no such mode.
std::vector<Step> steps_against_mode(const analysis::RunResult &result, size_t index,
									 const explain::TailExplanation &tail);

} // namespace icepath::text
