// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packets are late behind the loopback device, in the network namespace of the measured processes.
#include "profiler/channel.h"
#include "profiler/selftest/injector.h"

namespace icepath::selftest {

struct LoopbackDelay {
	Fd program;
	bool takes_a_filter = false; // a device's, since the kernel has no links (loopback_program.h)
};

LoopbackDelay load_device_delay(); // as root. Throws Failure(MachineCannot)
std::unique_ptr<Effect> put_in_device_delay(const Subject &subject);

} // namespace icepath::selftest
