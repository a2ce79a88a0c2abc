// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which targets a run measures, by what the user named.
#include <vector>

#include "profiler/plan/plan.h"

namespace icepath::plan {

bool is_middleware(const Target &target);

// By its own name, and not by a word that stands for many.
bool is_named(const Wishes &wishes, const Target &target);

// Each once, in the order in which they are named. Those that don't work here are notices of the plan, and if they were named also among
// its missing ones. Throws Failure: Usage where a name is nobody's, MachineCannot where all that are named don't work here.
std::vector<const Target *> choose(const Wishes &wishes, const std::vector<Target> &targets, Plan &plan);

} // namespace icepath::plan
