// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/architecture.h"

namespace icepath::doctor {

// copy_user_stack() of ebpf/stacks.bpf.h and UserStacks::frames() know x86-64's registers, and
// capture/untraced_interrupts.cc the rows of its /proc/interrupts.
std::optional<Check> architecture_check(const std::string &machine)
{
	if (machine == "x86_64")
		return std::nullopt;
	return Check{"architecture",
				 Verdict::Warn,
				 machine +
					 ": not on this machine's architecture: callers of user code, interrupts without a tracepoint",
				 "with --stacks, functions of user code stand without their callers; such interrupts are unknown time",
				 "measure on x86-64 where these matter",
				 Possible::NotHere};
}

} // namespace icepath::doctor
