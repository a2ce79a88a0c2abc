// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quality of service as factors of a plan.
#include <string>
#include <vector>

#include "profiler/plan/plan.h"

namespace icepath::plan {

// Throws Failure(Usage) for a policy that none of the targets has.
void check_qos(const Wishes &wishes, const std::vector<const Target *> &chosen);

// All combinations of values of the policies that the target has. A notice names those that it lacks.
std::vector<model::Qos> qos_for(const Wishes &wishes, const Target &target, std::vector<std::string> &notices);

// Whether a cell can be measured although its quality of service may lose messages. If not, a notice says why.
bool bears_loss(const model::Cell &cell, std::vector<std::string> &notices);

} // namespace icepath::plan
