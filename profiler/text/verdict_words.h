// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run says in two sentences: which target is the fastest, or what this run doesn't tell apart; and what most of
// the time of typical messages is (explain/verdict.h).
#include <string>

#include "profiler/analysis/run_result.h"

namespace icepath::text {

// One or two sentences; empty if the run supports neither.
std::string verdict_text(const analysis::RunResult &result);

} // namespace icepath::text
