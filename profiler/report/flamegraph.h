// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "profiler/report/folded.h"

namespace icepath::report {

// Stacks as an SVG without scripts: width is the weight, in nanoseconds, the root is at the bottom. Each frame that is
// pointed at tells its whole way from the target, its time in sum and for each message of its cell, and its share. The
// same stacks give the same bytes.
std::string flamegraph_svg(const Stacks &stacks, const MessagesOfCells &messages, const std::string &title);

} // namespace icepath::report
