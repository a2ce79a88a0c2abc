// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tasks that take the receiver's CPU.
#include "profiler/selftest/injector.h"

namespace icepath::selftest {

std::unique_ptr<Effect> put_in_hog(const Subject &subject); // default policy
std::unique_ptr<Effect> put_in_fifo_hog(const Subject &subject);

} // namespace icepath::selftest
