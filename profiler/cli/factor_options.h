// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options of `icepath run` that have a row in model::kFactors.
#include <array>
#include <string>
#include <vector>

#include "profiler/plan/plan.h"

namespace CLI {
class App;
}

namespace icepath::cli {

// The given values, parallel to model::kFactors; empty: the option wasn't given.
using FactorTexts = std::array<std::vector<std::string>, model::kFactorCount>;

// `texts` must live until `app` has parsed.
void add_factors(CLI::App &app, FactorTexts &texts);

// Throws Failure(Usage) if a text is no level of its factor.
void take_factors(const FactorTexts &texts, plan::WantedLevels &levels);

} // namespace icepath::cli
