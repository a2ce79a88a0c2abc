// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where middleware runs: user, mount and network namespaces of the run's own. Middleware keeps files in /tmp and /dev/shm under
// names of its choice, and finds its peers by multicast. Here these are the run's alone: nobody on the machine or its network
// sees them, and nothing is left once the last process is gone, whatever killed it. No privilege is needed, but where the machine lets
// no user have a user namespace: there the root side has the others.
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/privilege/root_space.h"

namespace icepath::run {

class MiddlewareSpace {
public:
	// /tmp and /dev/shm are empty there but for those of the `kept` folders that lie in them. `root`, if any, makes it where the machine
	// doesn't let this user have such namespaces, and is ended where it does. Throws Failure(MachineCannot).
	explicit MiddlewareSpace(const std::vector<std::string> &kept, privilege::RootSpace *root = nullptr);

	// Who starts workers there; nullptr: they enter() it.
	privilege::RootSpace *root() const { return root_; }

	// Takes this process, which has one thread, into it. Between fork and exec: makes system calls only. False: errno says why.
	bool enter() const;

private:
	privilege::RootSpace *root_ = nullptr;
	Fd user_, mount_, network_;
};

} // namespace icepath::run
