// SPDX-License-Identifier: Apache-2.0
#pragma once
// A process that does one thing until it is ended.
#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "profiler/channel.h"

namespace icepath::selftest {

class Child {
public:
	// Forks. `name` appears in reports; `work` never returns. When the constructor returns, the process is pinned and
	// `prepare` has run in it; otherwise it throws Failure(MachineCannot) with the failed step.
	Child(const char *name, uint32_t cpu, const std::function<bool()> &prepare, const std::function<void()> &work);
	~Child(); // ends it by its pidfd and reaps it
	Child(const Child &) = delete;
	Child &operator=(const Child &) = delete;
	pid_t pid() const { return pid_; }

private:
	void end();
	Fd pidfd_;
	pid_t pid_ = -1;
};

} // namespace icepath::selftest
