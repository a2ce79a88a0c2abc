// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `icepath compare` prints.
#include "profiler/analysis/run_result.h"
#include "profiler/compare/comparison.h"
#include "profiler/text/page.h"

namespace icepath::text {

// `run`: of A, which of arms is that of both. `path`: its directory, for commands.
void add_comparison(Page &page, const analysis::RunResult &run, const compare::Comparison &comparison,
					const std::string &path);

// The same in Markdown, for a comment: a table for all cells.
std::string comparison_markdown(const analysis::RunResult &run, const compare::Comparison &comparison);

} // namespace icepath::text
