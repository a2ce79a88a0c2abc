// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of what a machine or a run was quiet enough for (model/fitness.h).
#include <string>

#include "profiler/model/fitness.h"

namespace icepath::text {

const char *answer(const model::Fitness &fitness); // "yes", "no", "unknown"
std::string found_text(const model::Fitness &fitness); // "others took 2.6 % of CPU 1's time in 0.5 s"
std::string share_text(double share); // "2.6 %"
std::string threshold_text(model::Purpose purpose); // "< 5 %"

} // namespace icepath::text
