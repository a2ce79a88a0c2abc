// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <string>

#include "profiler/channel.h"

namespace icepath::selftest {

// A folder of this user's that goes with the selftest: where that is killed, a process of its own takes it away. Where both are
// killed, the next selftest does: the folder is locked as long as one of them lives.
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
	pid_t remover_ = -1;
};

} // namespace icepath::selftest
