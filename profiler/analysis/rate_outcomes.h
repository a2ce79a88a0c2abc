// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results of the searches for a highest rate. They come before all other counting, because they determine which blocks
// count.
#include <optional>
#include <string>
#include <vector>

#include "profiler/model/cell.h"
#include "profiler/rate/outcome.h"

namespace icepath::analysis {

// One result for each of the run's cells, nothing for a cell without a search. Reads the run only if some cell
// searches. Throws Failure(Usage) as rundir::Reader does.
std::vector<std::optional<rate::Outcome>> search_outcomes(const std::string &run,
														  const std::vector<model::Cell> &cells);

} // namespace icepath::analysis
