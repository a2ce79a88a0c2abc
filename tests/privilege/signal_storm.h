// SPDX-License-Identifier: Apache-2.0
#pragma once
// A user who stops and continues a process over and over, as that user may do to a root helper.
#include <sys/types.h>

namespace icepath::privilege {

class SignalStorm {
public:
	// A process of `user` sends SIGSTOP and SIGCONT to `target` over and over, with pauses of up to `most_us`.
	SignalStorm(uid_t user, pid_t target, unsigned most_us);
	~SignalStorm(); // ends it; the target then runs
	SignalStorm(const SignalStorm &) = delete;
	SignalStorm &operator=(const SignalStorm &) = delete;

private:
	const pid_t target_;
	pid_t storm_ = -1;
};

} // namespace icepath::privilege
