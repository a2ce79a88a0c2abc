// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lines below the table of a report on one screen: the slowest message, what took time, and how far to trust it
// all.
#include <string>
#include <vector>

#include "profiler/model/fitness.h"
#include "profiler/report/aggregate.h"
#include "profiler/report/page.h"

namespace icepath::report {

struct Doubt {
	std::string word; // "ok", "wide", "changed", "noisy", "partly", "lost", …
	std::vector<std::string> facts; // what it rests on, the most important first
	std::string remedy; // the option or command that mends it; empty if nothing is to be mended
};

// Widths of intervals; the machine; how much of the layers is known; what was lost or is missing.
std::vector<Doubt> doubts(const RunResult &result);

void add_slowest(Page &page, const RunResult &result);
void add_taken_by(Page &page, const RunResult &result);
// At most a line each.
void add_trust(Page &page, const RunResult &result);
// What the run was quiet enough for: in one line where that was measured, or in full.
void add_fit_for(Page &page, const RunResult &result, bool in_full);
// Judged by the look at the CPUs before the first block, by what a hypervisor took in all, and by all round trips of
// cache lines between the CPUs.
std::vector<model::Fitness> fitness_of(const RunResult &result);
// What makes the run unfit for tails. Empty: it is fit, or that wasn't measured.
std::string unfit_for_tails(const RunResult &result);

struct CulpritSum {
	std::string name, layer;
	uint64_t ns = 0, segments = 0;
};
// Culprits of all cells together by name and layer, the longest first.
std::vector<CulpritSum> culprit_sums(const std::vector<CellResult> &cells);

// The slowest message with a complete path; nullptr if there is none.
const WorstMessage *worst_message(const RunResult &result);
// The slowest of all, also without a complete path.
uint64_t slowest_ns(const RunResult &result);

} // namespace icepath::report
