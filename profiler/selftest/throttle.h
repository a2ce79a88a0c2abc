// SPDX-License-Identifier: Apache-2.0
#pragma once
// The receiver in a control group that may use a part of the time, of which another task uses up most.
#include "profiler/selftest/cpu_group.h"
#include "profiler/selftest/injector.h"

namespace icepath::selftest {

std::unique_ptr<CpuGroup> make_throttled_group(); // as root. Throws Failure(MachineCannot)
std::unique_ptr<Effect> put_in_throttle(const Subject &subject);

} // namespace icepath::selftest
