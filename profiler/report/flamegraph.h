// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "profiler/report/folded.h"

namespace icepath::report {

// Stacks as an SVG without scripts: width is the weight, the root is at the bottom, each frame tells its time and share
// when it is pointed at. The same stacks give the same bytes.
std::string flamegraph_svg(const Stacks &stacks, const std::string &title);

} // namespace icepath::report
