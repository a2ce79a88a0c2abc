// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who asked for this run, and becoming that user.
#include <sys/types.h>

#include <string>
#include <vector>

namespace icepath::privilege {

struct Identity {
	uid_t uid = 0;
	gid_t gid = 0;
	std::string name;
	bool was_root = false;    // started with effective uid 0
	bool stays_root = false;  // root without an invoking user, as in CI: nothing to become
	std::vector<gid_t> groups; // supplementary
	std::string home;
};

// From SUDO_UID, PKEXEC_UID or DOAS_USER where the process is root, else the process's own. Throws Failure(Usage) where
// those variables don't name a user.
Identity invoking_user();

// Who reads a run: `user`, or, where that is root without an invoking user, the owner of `path`. So a stranger's file is read with no more rights than the stranger's; an owner whom this
// machine doesn't know has a number, and no group but nobody's. rundir::Reader refuses what this doesn't see.
Identity reader_of(const std::string &path, const Identity &user);

// Gives up every privilege for good: supplementary groups, group, user, capabilities, ambient set. Looks nothing up, so that no
// library of the name service is loaded, by root least of all. Throws Failure(Internal) where the kernel refuses or where privileges
// could be had back.
void become(const Identity &user);

// HOME, USER and LOGNAME, as login(1) sets them.
void describe_in_environment(const Identity &user);

} // namespace icepath::privilege
