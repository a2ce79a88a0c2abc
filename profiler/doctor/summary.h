// SPDX-License-Identifier: Apache-2.0
#pragma once
// The doctor's answer on one screen.
#include <cstddef>
#include <string>
#include <vector>

#include "profiler/doctor/doctor.h"
#include "profiler/doctor/fit_for.h"

namespace icepath::doctor {

// In lines of `width` columns, wrapped at spaces: whether icepath can run, what was found by cause with one remedy
// each, and what this machine is fit for. What was found for one cause takes two lines at most, or one where there
// are many causes, and then ends in "…", for to_text() has it; everything else is whole.
std::string summary_text(const std::vector<Check> &checks, const std::vector<FitFor> &fit_for, bool colour,
						 size_t width);

} // namespace icepath::doctor
