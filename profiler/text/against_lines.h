// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why one cell is slower than another, as a section of text.

#include "profiler/explain/against.h"
#include "profiler/text/page.h"

namespace icepath::text {

void add_against(Page &page, const analysis::RunResult &result, const explain::Against &against);

} // namespace icepath::text
