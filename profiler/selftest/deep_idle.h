// SPDX-License-Identifier: Apache-2.0
#pragma once
// CPUs may idle as deeply as they like, in blocks between others in which they mayn't.
#include "profiler/selftest/injector.h"

namespace icepath::selftest {

std::unique_ptr<Effect> put_in_deep_idle(const Subject &subject);

} // namespace icepath::selftest
