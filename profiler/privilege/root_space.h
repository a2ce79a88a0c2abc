// SPDX-License-Identifier: Apache-2.0
#pragma once
// The root side of middleware's namespaces, where the machine lets no user have a user namespace (AppArmor's restriction, a chroot,
// most containers): a process that keeps root makes mount and network namespaces for itself, and starts workers in them, which are the
// invoking user before the program begins. They are icepath's children (CLONE_PARENT), as others are.
//
// What it believes: nothing. It runs the one program that it was forked with, as the invoking user, and opens folders with that user's
// rights. It ends when its socket closes or icepath has ended.
#include <sys/types.h>

#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/privilege/identity.h"
#include "profiler/privilege/root_process.h"

namespace icepath::privilege {

class RootSpace {
public:
	// Forks; the caller then gives root up. `worker`: the program. `before_it`: called in a new worker's process before it becomes the
	// user. Throws Failure.
	RootSpace(const Identity &user, const std::string &worker, void (*before_it)());

	// Once, before start(). `kept`: folders that are seen there though they lie in /tmp or /dev/shm. Throws Failure(MachineCannot).
	void make(const std::vector<std::string> &kept);

	// The worker's process; `fds` have the same numbers in it. -1: errno says why it wasn't started.
	pid_t start(const std::vector<std::string> &arguments, const std::vector<int> &fds);

private:
	RootProcess process_;
};

} // namespace icepath::privilege
