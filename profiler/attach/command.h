// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program that is started to be watched from its first instruction on.
#include <sys/types.h>

#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/privilege/identity.h"

namespace icepath::attach {

// A child of this process that has become the user, with no_new_privs where this process was root, and waits. Start it
// before anything whose descriptors it mustn't have. It goes on after the destructor, but ends if it was never started.
class Command {
public:
	// Throws Failure(MachineCannot).
	Command(const std::vector<std::string> &words, const privilege::Identity &user);
	pid_t pid() const { return pid_; }
	// The first time: lets it go on, into the program. Throws Failure if it has ended, or there is no such program.
	void start();
	void reap() const; // once it has ended

private:
	pid_t pid_ = -1;
	std::string name_;
	Fd goes_;
};

} // namespace icepath::attach
