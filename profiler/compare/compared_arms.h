// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arms of one run, by the rounds that measured both.
#include <string>
#include <vector>

#include "profiler/compare/comparison.h"

namespace icepath::compare {

// Names of all arms, in the order of the run, with the control or without.
std::vector<std::string> arms_of(const model::Head &head, bool with_control);

// The first of `arms`, each of the run, against each of the others. `run` was analysed with Wanted::block_figures, and
// outlives the result.
std::vector<Comparison> compare_arms(const analysis::RunResult &run, const std::vector<std::string> &arms,
									 double delta = kUsualDelta);

} // namespace icepath::compare
