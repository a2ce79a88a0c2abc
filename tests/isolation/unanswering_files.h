// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file system of a user's (FUSE) that never answers: who looks for a file in it waits, and can't be killed.
#include <sys/types.h>

#include <string>

namespace icepath::isolation {

class UnansweringFiles {
public:
	UnansweringFiles();
	~UnansweringFiles(); // end(), and unmounts it
	UnansweringFiles(const UnansweringFiles &) = delete;
	UnansweringFiles &operator=(const UnansweringFiles &) = delete;

	void end(); // who waits gets an error
	std::string file() const { return folder_ + "/file"; }

private:
	const std::string folder_;
	pid_t server_ = -1;
};

} // namespace icepath::isolation
