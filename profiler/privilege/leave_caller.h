// SPDX-License-Identifier: Apache-2.0
#pragma once
// A process that owes the machine something, such as restoring a setting, isn't in the hands of whoever made it owe
// that. A process inherits from its caller what can end, stop or starve it: control groups, which a service manager
// delegates to users, or ends with their sessions; the terminal's session; limits; scheduling.
#include <sys/types.h>

#include <string>

namespace icepath::privilege {

struct Left {
	std::string why_not; // how its caller could still end, stop or starve it; empty: in no way
	std::string risk; // what else could end it, though its caller hasn't chosen that; empty: nothing
};

// As root, before the process owes anything, in a process with one thread. Afterwards it is in the root group of each
// hierarchy of control groups, leads a session of its own, and has /dev/null as its standard descriptors. It has
// default limits, scheduling, memory policy and umask, may run on all CPUs, and isn't chosen where memory runs out.
Left leave_caller();

// Moves a process to the root group of each hierarchy, which thaws it. Returns why that failed; empty: it is there.
std::string move_to_root_groups(pid_t process);

} // namespace icepath::privilege
