// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sockets of cells: what they were granted, and what the kernel counted of them.
#include "profiler/analysis/run_result.h"
#include "profiler/text/page.h"

namespace icepath::text {

// One line with what tells runs apart: TCP's congestion control, and buffers. Nothing if there is no TCP and
// buffers are alike in all cells.
void add_socket_line(Page &page, const analysis::RunResult &result);

// All options, and all counts that aren't 0, of each cell.
void add_sockets(Page &page, const analysis::RunResult &result);

} // namespace icepath::text
