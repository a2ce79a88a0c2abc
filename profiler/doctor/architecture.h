// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this machine's architecture lacks of icepath.
#include <optional>

#include "profiler/doctor/doctor.h"

namespace icepath::doctor {

// `machine`: as uname(2) names it. Nothing: all of icepath is there, as on x86-64.
std::optional<Check> architecture_check(const std::string &machine);

} // namespace icepath::doctor
