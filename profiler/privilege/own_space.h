// SPDX-License-Identifier: Apache-2.0
#pragma once
// What makes a mount and a network namespace the run's own, for who has just entered new ones with the rights to change them.
#include <string>
#include <vector>

#include "profiler/channel.h"

namespace icepath::privilege {

// What failed, to be sent to who asked. `what` ends with 0.
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

// A folder that lies in one of those that are emptied, and is seen there nevertheless.
struct Kept {
	std::string path;
	Fd outside;
};

// Those of the folders that need it. They are opened with the rights of who calls, in the mount namespace that is to be changed.
std::vector<Kept> open_kept(const std::vector<std::string> &folders);

// /tmp and /dev/shm are empty there but for what is kept. Throws Refused.
void empty_folders(const std::vector<Kept> &kept);

// Nobody beyond the namespace hears what is sent to a group, so the loopback device may take it. Throws Refused.
void raise_loopback();

} // namespace icepath::privilege
