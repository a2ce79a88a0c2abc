// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of what the kernel's counts say of lost and of slow messages (explain/kernel_losses.h).
#include <string>

#include "profiler/analysis/run_result.h"
#include "profiler/explain/finding.h"

namespace icepath::text {

// Where the kernel dropped what a cell lost, as a part of a sentence: ": 12 datagrams dropped at …". Empty without lost
// messages or if no block tells of sockets.
std::string where_lost(const analysis::CellResult &cell);

// Of SlowBesideDrops and SlowBesideResends, and of CameWithNext.
std::string slow_beside_text(const analysis::RunResult &result, const explain::Finding &finding);
std::string with_next_text(const analysis::RunResult &result, const explain::Finding &finding);

} // namespace icepath::text
