// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why a cell's slowest messages are slow, as a section of text.
#include <cstddef>

#include "profiler/explain/tail.h"
#include "profiler/text/page.h"

namespace icepath::text {

// A section for the cell with that index.
void add_tail(Page &page, const analysis::RunResult &result, size_t index, const explain::TailExplanation &tail);

} // namespace icepath::text
