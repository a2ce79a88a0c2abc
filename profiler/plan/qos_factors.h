// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quality of service as factors of a plan.
#include <string>
#include <vector>

#include "profiler/plan/plan.h"

namespace icepath::plan {

// Throws Failure(Usage) where a policy is asked for that none of the targets has.
void check_qos(const Wishes &wishes, const std::vector<const Target *> &chosen);

// Each value of each policy with each of the others, of the policies that the target has; those that it hasn't are told.
std::vector<model::Qos> qos_for(const Wishes &wishes, const Target &target, std::vector<std::string> &notices);

// Whether a cell whose quality of service may lose messages can be measured; why it can't is told.
bool bears_loss(const model::Cell &cell, std::vector<std::string> &notices);

} // namespace icepath::plan
