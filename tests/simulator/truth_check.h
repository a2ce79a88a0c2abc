// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a walked path is true: equal to the truth where it claims to know, and honest where it infers.
#include <string>
#include <vector>

#include "profiler/path/path.h"
#include "tests/simulator/truth.h"

namespace icepath::simulator {

// Empty, or the path's error.
std::string wrong(const path::Path &walked, const Truth &truth);

std::string text(const std::vector<TrueSegment> &segments, uint64_t zero);

} // namespace icepath::simulator
