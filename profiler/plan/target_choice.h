// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which targets a run measures, by the names that the user gave.
#include <vector>

#include "profiler/plan/plan.h"

namespace icepath::plan {

bool is_middleware(const Target &target);

// Whether the user gave the target's own name.
bool is_named(const Wishes &wishes, const Target &target);

// Each once, in the order of the names. Targets that don't work here become notices of the plan; named ones are also in
// `missing`. Throws Failure: Usage for an unknown name, MachineCannot if no named target works here.
std::vector<const Target *> choose(const Wishes &wishes, const std::vector<Target> &targets, Plan &plan);

} // namespace icepath::plan
