// SPDX-License-Identifier: Apache-2.0
#pragma once
// What makes a mount and a network namespace the run's own, for a process that has just entered new ones with the rights to change them.
// /tmp and /dev/shm are empty there, but for folders that are kept: those of plug-ins and of the worker's program.
//
// The order is what makes it safe for root: a kept folder is opened by its user, without a symbolic link on the way, and cloned
// before anything is mounted. Its place is made in an empty file system that nobody else sees, one component after the other.
// So no path leads through a folder of the user's.
#include <string>
#include <vector>

#include "profiler/channel.h"

namespace icepath::privilege {

// What failed, to be sent to the process that asked. `what` ends with 0.
struct Refusal {
	int error;
	char what[96];
};

class Refused {
public:
	explicit Refused(const std::string &what); // error is errno
	const Refusal &refusal() const { return refusal_; }

private:
	Refusal refusal_;
};

// Throws Refused.
void must(bool done, const std::string &what);

// A folder below /tmp or /dev/shm. `path` has no symbolic link, "." or "..".
struct Kept {
	std::string path;
	Fd folder; // an O_PATH descriptor, or, once cloned, a mount that is attached nowhere
};

// Those of the folders that are hidden otherwise, opened with the rights of the caller. One within another is left out: it is seen
// there anyway. Throws Refused.
std::vector<Kept> open_kept(const std::vector<std::string> &folders);

// In the mount namespace in which they were opened, with CAP_SYS_ADMIN there. Takes also what a user sent: a path that isn't as
// open_kept() makes them, or that lies within another, is refused. Throws Refused.
std::vector<Kept> cloned(const std::vector<Kept> &opened);

// Throws Refused.
void empty_folders(const std::vector<Kept> &cloned);

// Nobody beyond the namespace hears what is sent to a group, so the loopback device may take it. Throws Refused.
void raise_loopback();

} // namespace icepath::privilege
