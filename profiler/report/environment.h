// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a run was made and what it rests on: the machine, what may have disturbed it, the probes behind each layer.
#include "profiler/model/run.h"
#include "profiler/report/page.h"

namespace icepath::report {

// Two lines: the machine, and the CPUs with the reason for their choice.
void add_machine(Page &page, const model::Head &head);

// One line: what was done to keep the run quiet, step by step; with `verbose` also how. Nothing for a run that didn't
// record it.
void add_isolation(Page &page, const model::Head &head, bool verbose);

// What wasn't isolated; with `verbose` also its effect on latency and its remedy.
void add_noise(Page &page, const model::Head &head, bool verbose);

// The probe behind each layer, by tier.
void add_probes(Page &page, const model::Head &head, bool verbose);

} // namespace icepath::report
