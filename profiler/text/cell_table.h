// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "profiler/analysis/run_result.h"
#include "profiler/text/page.h"

namespace icepath::text {

// The measured cells with one line each: latency, where it goes, what it costs; then legend and explanation. Says so if
// there are none. `all`: with every column and its meaning, however wide; otherwise what a page has room for. Cells
// with several modes have a row for each, unless the table then has more than `most_lines`.
void add_cell_table(Page &page, const analysis::RunResult &result, bool all, size_t most_lines = SIZE_MAX);

} // namespace icepath::text
