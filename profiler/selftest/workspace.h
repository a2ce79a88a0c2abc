// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "profiler/channel.h"

namespace icepath::selftest {

// A folder of this user's that goes with the selftest. One that was killed leaves its own, which the next one takes away: it is locked
// as long as its process lives.
class Workspace {
public:
	// Throws Failure(MachineCannot).
	Workspace();
	~Workspace();
	Workspace(const Workspace &) = delete;
	Workspace &operator=(const Workspace &) = delete;
	const std::string &path() const { return path_; }

private:
	void make(const std::string &pattern);
	std::string path_;
	Fd lock_; // of the folder itself
};

} // namespace icepath::selftest
