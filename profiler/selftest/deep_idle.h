// SPDX-License-Identifier: Apache-2.0
#pragma once
// Allows CPUs to idle deeply, in blocks between others in which they are kept awake.
#include "profiler/selftest/injector.h"

namespace icepath::selftest {

std::unique_ptr<Effect> put_in_deep_idle(const Subject &subject);

} // namespace icepath::selftest
