// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tails of several cells are made of, on one screen.
#include <cstddef>
#include <vector>

#include "profiler/explain/tail.h"
#include "profiler/text/page.h"

namespace icepath::text {

// `tails`: of `cells`, by index.
void add_tail_summary(Page &page, const analysis::RunResult &result, const std::vector<size_t> &cells,
					  const std::vector<explain::TailExplanation> &tails);

} // namespace icepath::text
