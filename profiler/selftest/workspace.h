// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <string>

#include "profiler/channel.h"

namespace icepath::selftest {

// A folder of this user that ends with the selftest. If that is killed, a separate process removes the folder; if both
// are killed, the next selftest does. The folder is locked while one of them lives.
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
	Fd lock_; // on the folder itself
	pid_t remover_ = -1;
};

} // namespace icepath::selftest
