// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "profiler/report/folded.h"

namespace icepath::report {

// Stacks as an SVG without scripts: the width is the weight in nanoseconds, the root is at the bottom. A frame's
// tooltip has its way from the target, its time in sum and per message of its cell, and its share. Equal stacks give
// equal bytes.
std::string flamegraph_svg(const Stacks &stacks, const MessagesOfCells &messages, const std::string &title);

} // namespace icepath::report
