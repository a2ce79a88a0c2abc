// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options of `icepath run` that have a row in model::kFactors.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "icepath/plugin.h"
#include "profiler/plan/plan.h"

namespace CLI {
class App;
}

namespace icepath::cli {

// The given values, parallel to model::kFactors; empty: the option wasn't given.
using FactorTexts = std::array<std::vector<std::string>, model::kFactorCount>;

// Those that only some patterns have stand below the title `of_patterns`, the others below `of_all`. `texts` must live
// until `app` has parsed.
void add_factors(CLI::App &app, FactorTexts &texts, const char *of_patterns, const char *of_all);

// Throws Failure(Usage) if a text is no level of its factor.
void take_factors(const FactorTexts &texts, plan::WantedLevels &levels);

// --qos POLICY=VALUE[,VALUE...]
std::vector<std::string> qos_examples(); // each policy with its possible values
// "reliability=reliable,best-effort" adds two values of reliability. Throws Failure(Usage).
void add_qos(const std::string &text, std::array<std::vector<uint64_t>, ICEPATH_QOS_POLICIES> &qos);

} // namespace icepath::cli
