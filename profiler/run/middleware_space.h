// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where middleware runs: in user, mount and network namespaces of the run's own. Middleware keeps files in /tmp and
// /dev/shm under names of its choice, and finds its peers by multicast. Here both are private to the run: nobody on the
// machine or its network sees them, and nothing is left once the last process is gone, whatever killed it. This needs
// no privilege. If users may have no user namespaces, privilege::RootSpace makes the mount and network namespaces.
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/privilege/root_space.h"

namespace icepath::run {

class MiddlewareSpace {
public:
	// /tmp and /dev/shm are empty there, except for `kept` folders that lie in them. `root`, if any, makes the
	// namespaces if the user may not, and is ended if the user may. Throws Failure(MachineCannot).
	explicit MiddlewareSpace(const std::vector<std::string> &kept, privilege::RootSpace *root = nullptr);

	// Starts workers there; nullptr: they enter() it.
	privilege::RootSpace *root() const { return root_; }

	// Moves this single-threaded process into it, between fork and exec: system calls only. False: errno says why.
	bool enter() const;

private:
	privilege::RootSpace *root_ = nullptr;
	Fd user_, mount_, network_;
};

} // namespace icepath::run
