// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packets are late behind the loopback device, in the network namespace of the measured processes.
#include "profiler/selftest/injector.h"

namespace icepath::selftest {

std::unique_ptr<Effect> put_in_device_delay(const Subject &subject);

} // namespace icepath::selftest
