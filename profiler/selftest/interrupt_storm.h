// SPDX-License-Identifier: Apache-2.0
#pragma once
// Long interrupts on the sender's CPU: the timer of a perf event, whose handler runs a BPF program that lets time pass.
#include "profiler/channel.h"
#include "profiler/selftest/injector.h"

namespace icepath::selftest {

Fd load_interrupt(); // as root. Throws Failure(MachineCannot)
std::unique_ptr<Effect> put_in_interrupt_storm(const Subject &subject);

} // namespace icepath::selftest
