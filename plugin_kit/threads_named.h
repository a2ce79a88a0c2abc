// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names the threads of a library that doesn't: a thread inherits the name of the thread that creates it.
#include <sys/prctl.h>

namespace icepath::plugin_kit {

class ThreadsNamed {
public:
	explicit ThreadsNamed(const char *name)
	{
		prctl(PR_GET_NAME, own_);
		prctl(PR_SET_NAME, name);
	}
	~ThreadsNamed() { prctl(PR_SET_NAME, own_); }
	ThreadsNamed(const ThreadsNamed &) = delete;
	ThreadsNamed &operator=(const ThreadsNamed &) = delete;

private:
	char own_[16] = "";
};

} // namespace icepath::plugin_kit
