// SPDX-License-Identifier: Apache-2.0
#pragma once
// The doctor's answer on one screen.
#include <cstddef>
#include <string>
#include <vector>

#include "profiler/doctor/doctor.h"
#include "profiler/model/fitness.h"

namespace icepath::doctor {

// At most 25 lines of `width` columns: whether icepath can run, what was found by cause with one remedy each, and what
// this machine is fit for. No line is longer; what doesn't fit ends in "…", and stands in to_text().
std::string summary_text(const std::vector<Check> &checks, const std::vector<model::Fitness> &fitness, bool colour,
						 size_t width);

} // namespace icepath::doctor
