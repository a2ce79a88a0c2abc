// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why a cell's slowest messages, or the slowest requests between two programs, are slow, as a section of text.
#include <cstddef>

#include "profiler/analysis/link_ranges.h"
#include "profiler/explain/tail.h"
#include "profiler/text/page.h"

namespace icepath::text {

// A section for the cell with that index. `all`: also the causes that took little.
void add_tail(Page &page, const analysis::RunResult &result, size_t index, const explain::TailExplanation &tail,
			  bool all = false);

// A section for the link with that index.
void add_tail(Page &page, const analysis::RangesOfLinks &ranges, size_t index, const explain::TailExplanation &tail,
			  stats::Percentile from, bool all = false);

} // namespace icepath::text
