// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flame graph as an SVG of its own.
#include <string>

#include "profiler/analysis/flamegraph.h"

namespace icepath::pages {

// Cells stand side by side at the top, with their layers, parts and threads below them. The width is time of a message,
// so cells compare. Drawn as it is, for viewers without scripts; where they run, browser/flame_svg.js draws it anew and
// makes it zoom and search. Equal graphs give equal bytes.
std::string flame_svg(const analysis::FlameGraph &graph, const std::string &title);

} // namespace icepath::pages
