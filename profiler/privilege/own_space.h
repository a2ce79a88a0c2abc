// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes a mount and a network namespace the run's own, for a process that has just entered new ones with the rights to
// change them. There /tmp and /dev/shm are empty, except for kept folders: plug-ins' and the worker program's.
//
// The order makes it safe for root: a kept folder is opened by its user, without a symbolic link on the way, and cloned
// before anything is mounted. Its place is made in an empty file system that nobody else sees, one component after the
// other. So no path leads through a user's folder.
#include <string>
#include <vector>

#include "profiler/channel.h"

namespace icepath::privilege {

// What failed, to be sent to the process that asked. `what` is NUL-terminated.
struct Refusal {
	int error;
	char what[96];
};

class Refused {
public:
	explicit Refused(const std::string &what); // takes `error` from errno
	const Refusal &refusal() const { return refusal_; }

private:
	Refusal refusal_;
};

// Throws Refused unless `done`.
void must(bool done, const std::string &what);

// A folder below /tmp or /dev/shm. `path` has no symbolic link, "." or "..".
struct Kept {
	std::string path;
	Fd folder; // an O_PATH descriptor, or, once cloned, a detached mount
};

// Opens those folders that would be hidden, with the caller's rights. Leaves out a folder within another, where it
// stays visible. Throws Refused.
std::vector<Kept> open_kept(const std::vector<std::string> &folders);

// Clones the mounts, in the mount namespace in which they were opened, with CAP_SYS_ADMIN there. Safe for a user's
// request: refuses a path that isn't as open_kept() makes it, or that lies within another. Throws Refused.
std::vector<Kept> cloned(const std::vector<Kept> &opened);

// Throws Refused.
void empty_folders(const std::vector<Kept> &cloned);

// Nobody outside the namespace hears multicast, so the loopback device may take it. Throws Refused.
void raise_loopback();

} // namespace icepath::privilege
