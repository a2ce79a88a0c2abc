// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rights of a process that goes on with some of root's: named capabilities, without user id 0 or anything else of
// root's. docs/privilege.md lists them all, and tests/privilege/taken_over_test.cc tries the rest from inside.
#include <sys/types.h>

#include <string>
#include <vector>

#include "profiler/failure.h"
#include "profiler/privilege/identity.h"

namespace icepath::privilege {

using Capabilities = std::vector<int>; // capability numbers, capabilities(7)

// The group of all processes that keep rights, and the base of their user ids. It is in 1879048192 to 2147483647, which
// nothing allocates (systemd.io/UIDS-GIDS).
inline constexpr gid_t kOwnGroup = 1879048192;

struct Rights {
	Capabilities capabilities;
	bool becomes_user = false; // with become_real_user()
};

// This process couldn't give up rights. It may still say so to its peer, and then must end without answering a request:
// it has more rights than docs/privilege.md says.
class RightsKept : public Failure {
public:
	explicit RightsKept(const std::string &why) : Failure(ExitCode::MachineCannot, why) {}
};

// Reduces this process to these rights: a unique user id of its own, no environment, its own session, / as its folder,
// no core file, no new privileges; its /proc files are root's. Its real user is `user`, who may therefore end it, but
// neither trace it nor take its descriptors (ptrace(2)); for root, it is the process's own user. A stopped process
// continues when `icepath`, its parent, ends. For one thread. Throws RightsKept.
void keep_only(const Rights &kept, const Identity &user, pid_t icepath);

// Without root: reduces a program that has been executed with file capabilities to those of for_members(). The caller
// chose all that a process inherits, so of that it keeps only the socket, the standard descriptors and the process's
// place in the machine (control group, CPUs, limits). The process stays its user's, who may therefore end it, but
// neither trace it nor take its descriptors, because it has capabilities that the user hasn't. Throws
// RightsKept, or Failure(MachineCannot), which names why it has no such capabilities.
void keep_only_of_file(int socket, pid_t icepath);

// After keep_only() with `becomes_user`: becomes the user for good, without capabilities. Throws
// RightsKept.
void become_real_user();

// For a process that stays user 0, because the files that it makes or removes are root's: no other group, no
// environment, / as its folder, no core file, no new privileges, not dumpable, and only these capabilities. Throws
// RightsKept.
void keep_as_root(const Capabilities &kept);

// Keeps only these of the capabilities that keep_only() left. Throws RightsKept.
void limit_capabilities(const Capabilities &kept);

// What the root helper needs to load probes and, once they are loaded, to attach them. `kprobes`: some probes are.
Rights for_loading();
Capabilities for_capturing(bool kprobes);
// What the root helper has where it is executed without root: no kprobes, no names of the kernel's functions where only
// root may read them. `icepath setup --caps` gives them to its file.
Capabilities for_members();
// To make mount and network namespaces.
Rights for_spaces();

} // namespace icepath::privilege
