// SPDX-License-Identifier: Apache-2.0
#pragma once
// `icepath explain --stacks`: each layer's functions.
#include <string>

#include "profiler/analysis/cell_result.h"
#include "profiler/text/page.h"

namespace icepath::text {

// What the samples cost: "messages take 31.0 µs (p50) in blocks with samples, 22.1 µs in others with probes".
std::string cost_of_samples(const analysis::CellResult &cell);

void add_functions(Page &page, const analysis::CellResult &cell);

// What the table's numbers and names mean, once for all cells.
void add_function_notes(Page &page);

} // namespace icepath::text
