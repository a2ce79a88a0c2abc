// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a process keeps that goes on with root's rights: capabilities by name, and neither the number 0 nor anything else of root's.
// docs/privilege.md has all of them in a table, and tests/privilege/taken_over_test.cc tries the rest from inside.
#include <sys/types.h>

#include <vector>

#include "profiler/privilege/identity.h"

namespace icepath::privilege {

using Capabilities = std::vector<int>; // by their numbers, capabilities(7)

// The group of all processes that keep rights, so that they share /run/icepath, and the lowest of their users: of the numbers from
// 1879048192 to 2147483647, which nobody hands out (systemd.io/UIDS-GIDS).
inline constexpr gid_t kOwnGroup = 1879048192;

struct Rights {
	Capabilities capabilities;
	bool becomes_user = false; // with become_real_user()
};

// Becomes a process that has these rights and nothing more of root's: a user of its own, whose number is nobody else's, no environment,
// its own session, / as its folder, no core file, no new privileges; its /proc files are root's. Its real user is `user`, who may
// therefore end it, but neither trace it nor take its descriptors (ptrace(2)); where that is root, it is its own user. A process that
// was stopped goes on when `icepath`, its parent, ends. One thread. Throws Failure(MachineCannot).
void keep_only(const Rights &kept, const Identity &user, pid_t icepath);

// After keep_only(), of one that becomes the user: now it is the user, for good, and has no capability. Throws Failure(MachineCannot).
void become_real_user();

// Of a process that stays user 0, since files that it makes or takes away are root's: no other group, no new privileges, and these
// capabilities alone. Throws Failure(MachineCannot).
void keep_as_root(const Capabilities &kept);

// Of those that keep_only() left, these remain. Throws Failure(MachineCannot).
void limit_capabilities(const Capabilities &kept);

// What the root helper needs to load probes, and of that, once they are loaded, to attach them. `kprobes`: some of them are.
Rights for_loading();
Capabilities for_capturing(bool kprobes);
// To make mount and network namespaces.
Rights for_spaces();

} // namespace icepath::privilege
