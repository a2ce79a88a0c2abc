// SPDX-License-Identifier: Apache-2.0
#pragma once
// Injections that disturb CPUs: tasks, a quota, deep idle, interrupts.
#include "profiler/channel.h"
#include "profiler/selftest/child.h"
#include "profiler/selftest/cpu_group.h"
#include "profiler/selftest/injector.h"

namespace icepath::selftest {

// Tasks that take the receiver's CPU.
std::unique_ptr<Effect> put_in_hog(const Subject &subject); // default policy
std::unique_ptr<Effect> put_in_fifo_hog(const Subject &subject);

// Allows CPUs to idle deeply, in blocks between others in which they are kept awake.
std::unique_ptr<Effect> put_in_deep_idle(const Subject &subject);

// Puts the receiver into a control group with limited CPU time, most of which another task uses up.
std::unique_ptr<CpuGroup> make_throttled_group(); // as root. Throws Failure(MachineCannot)
std::unique_ptr<Effect> put_in_throttle(const Subject &subject);

// A task that uses all idle time of a CPU: it yields to all others at once (SCHED_IDLE).
class Spender : public Child {
public:
	Spender(const char *name, uint32_t cpu);
};

// Long interrupts on the sender's CPU: the timer of a perf event, whose handler runs a BPF program that lets time pass.
Fd load_interrupt(); // as root. Throws Failure(MachineCannot)
std::unique_ptr<Effect> put_in_interrupt_storm(const Subject &subject);

} // namespace icepath::selftest
