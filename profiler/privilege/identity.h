// SPDX-License-Identifier: Apache-2.0
#pragma once
// The user who asked for this run, and how to become that user.
#include <sys/types.h>

#include <string>
#include <vector>

namespace icepath::privilege {

struct Identity {
	uid_t uid = 0;
	gid_t gid = 0;
	std::string name;
	bool was_root = false;    // started with effective uid 0
	bool stays_root = false;  // root without an invoking user, as in CI: nobody to become
	std::vector<gid_t> groups; // supplementary
	std::string home;
};

// From SUDO_UID, PKEXEC_UID or DOAS_USER if the process is root, otherwise the process's own user. Throws
// Failure(Usage) if those variables don't name a user.
Identity invoking_user();

// The user who reads a run: `user`, or, for root without an invoking user, the owner of `path`. So a stranger's file is
// read with only that stranger's rights. An owner unknown to this machine has a user id, and only nogroup.
// rundir::Reader refuses what this check can't see.
Identity reader_of(const std::string &path, const Identity &user);

// Gives up every privilege for good: supplementary groups, group, user, capabilities, ambient set. Looks nothing up, so
// that no library of the name service is loaded, least of all by root. Throws Failure(Internal) if the kernel refuses,
// or if privileges could be regained.
void become(const Identity &user);

// Sets HOME, USER and LOGNAME as login(1) does.
void describe_in_environment(const Identity &user);

} // namespace icepath::privilege
