// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `icepath compare` prints.
#include <cstddef>
#include <string>

#include "profiler/analysis/run_result.h"
#include "profiler/compare/comparison.h"
#include "profiler/text/page.h"

namespace icepath::text {

// `run`: of A, which of arms is that of both. `path`: its directory, for commands.
void add_comparison(Page &page, const analysis::RunResult &run, const compare::Comparison &comparison,
					const std::string &path);

// The same in Markdown, for a comment: a table for all cells. The page gets no more than `most` bytes, and says what
// had no room; 10,000 more than it has suffice for what is always there.
void add_comparison_markdown(const analysis::RunResult &run, const compare::Comparison &comparison, size_t most,
							 std::string &page);

} // namespace icepath::text
