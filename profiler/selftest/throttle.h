// SPDX-License-Identifier: Apache-2.0
#pragma once
// Puts the receiver into a control group with limited CPU time, most of which another task uses up.
#include "profiler/selftest/cpu_group.h"
#include "profiler/selftest/injector.h"

namespace icepath::selftest {

std::unique_ptr<CpuGroup> make_throttled_group(); // as root. Throws Failure(MachineCannot)
std::unique_ptr<Effect> put_in_throttle(const Subject &subject);

} // namespace icepath::selftest
