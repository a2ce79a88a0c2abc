// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flame graphs' data for the scripts of report.html and of the SVG.
#include <nlohmann/json.hpp>

#include "profiler/analysis/flamegraph.h"

namespace icepath::pages {

// Input of browser/flame.js. Times are rounded to picoseconds.
nlohmann::ordered_json flame_json(const analysis::FlameGraph &graph);

} // namespace icepath::pages
