// SPDX-License-Identifier: Apache-2.0
#pragma once
// One plan of those of several arms. Pure.
#include <vector>

#include "profiler/model/arm.h"
#include "profiler/plan/plan.h"

namespace icepath::plan {

// The cells that all arms have, one of each arm after the other, in the order of `arms`. `plans`: of each. A notice
// says which cells are left out, and of which arms a notice is if not of all. Throws Failure(Usage) if no cell is left.
Plan beside_each_other(const std::vector<model::Arm> &arms, const std::vector<Plan> &plans);

} // namespace icepath::plan
