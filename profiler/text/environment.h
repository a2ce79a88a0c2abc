// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a run was made and what it rests on: the machine, what may have disturbed it, the probes behind each layer.
#include <string>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/text/page.h"

namespace icepath::text {

// The machine, and the CPUs with the reason for their choice, in a line each. `brief`: only what fits into one line of
// each. The CPUs' line then has the level of isolation, and its steps that weren't possible.
void add_machine(Page &page, const model::Head &head, bool brief);

// What was done to keep the run quiet, step by step, and how. Nothing for a run that didn't record it.
void add_isolation(Page &page, const model::Head &head);

// What wasn't isolated, with its effect on latency and its remedy.
void add_noise(Page &page, const model::Head &head);

// The probe behind each layer. Those that don't work are grouped by their reason.
void add_probes(Page &page, const model::Head &head);

} // namespace icepath::text
