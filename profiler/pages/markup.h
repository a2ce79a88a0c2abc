// SPDX-License-Identifier: Apache-2.0
#pragma once
// What SVG and HTML outputs share: safe texts, the colours of kinds, and the axis.
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/model/escaped.h"

namespace icepath::pages {

using model::escaped;

// JSON for the content of a <script>, in SVG and in HTML: nothing in it is markup there.
std::string script_json(const nlohmann::ordered_json &json);

// The first characters of `text` that fit into `pixels`, none of them cut; ends in "…" if some are missing. Empty where
// less than three would be left. For the 12-pixel monospace font.
std::string fitted(const std::string &text, double pixels);

// The same with the last characters, for names that begin alike: "cyclonedds/udp… new-again".
std::string fitted_with_end(const std::string &text, double pixels);

// Rules for the classes kind-0, kind-1 …, in the order of LayerKind, for shapes and the texts on them.
std::string kind_rules();

inline constexpr double kNsPerAxisUnit = 1e3; // axes are in µs
// Round values from 0 to at most `most`, some `about` of them.
std::vector<double> axis_values(double most, size_t about);

} // namespace icepath::pages
