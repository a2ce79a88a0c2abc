// SPDX-License-Identifier: Apache-2.0
#pragma once
// Delays packets behind the loopback device, in the network namespace of the measured processes.
#include "profiler/channel.h"
#include "profiler/selftest/injector.h"

namespace icepath::selftest {

struct LoopbackDelay {
	Fd program;
	bool takes_a_filter = false; // on a device, because the kernel has no links (loopback_program.h)
};

LoopbackDelay load_device_delay(); // as root. Throws Failure(MachineCannot)
std::unique_ptr<Effect> put_in_device_delay(const Subject &subject);

} // namespace icepath::selftest
