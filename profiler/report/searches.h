// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the searches for a highest rate came to. They are known before anything else is counted, since they say which blocks
// count.
#include <optional>
#include <string>
#include <vector>

#include "profiler/rate/outcome.h"

namespace icepath::report {

// One for each cell of the run, nothing where it doesn't search. Reads the blocks only where some cell does. Throws
// Failure(Usage) as rundir::Reader does.
std::vector<std::optional<rate::Outcome>> search_outcomes(const std::string &run);

} // namespace icepath::report
