// SPDX-License-Identifier: Apache-2.0
#pragma once
// Middleware's namespaces on machines that allow no user namespaces (AppArmor's restriction, a chroot, most
// containers). A process that keeps the necessary rights makes mount and network namespaces for itself, becomes the
// invoking user for good, and then starts workers there. They are icepath's children (CLONE_PARENT).
//
// It has no seccomp filter: its workers would inherit it, and its cost would be measured with each of their system
// calls. With privileges it handles a single request; it looks nothing up, and resolves no path of the user's
// (own_space.h). It ends when its socket closes or icepath has ended.
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "profiler/channel.h"
#include "profiler/privilege/identity.h"
#include "profiler/privilege/own_space.h"
#include "profiler/privilege/root_process.h"

namespace icepath::privilege {

class RootSpace {
public:
	// Forks; the caller then gives up root. `worker`: the program. `before_it`: called in a new worker's process.
	// Throws Failure.
	RootSpace(const Identity &user, const std::string &worker, void (*before_it)());

	// Once, before start(), as the user. `kept`: folders that stay visible there although they lie in /tmp or /dev/shm.
	// Throws Failure(MachineCannot).
	void make(const std::vector<std::string> &kept);
	void make_of(const std::vector<Kept> &opened);

	// Returns the worker's process; `fds` have the same numbers in it, and it has the variables of `environment`
	// instead of icepath's, or beside them. -1: not started, with errno set.
	pid_t start(const std::vector<std::string> &arguments, const std::vector<int> &fds,
				const std::vector<std::pair<std::string, std::string>> &environment = {});

	// Ends the process, once it isn't needed any more.
	void end() { process_.end(); }
	pid_t pid() const { return process_.pid(); }

private:
	RootProcess process_;
};

} // namespace icepath::privilege
