// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the peer lives, for mechanisms that don't report it: each side passes a pidfd of itself to the other.
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace icepath::plugin_kit {

// -1 with errno set where the kernel has none (before 5.3).
inline int own_pidfd() { return static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)); }

// A pidfd becomes readable when its process ends, even before it is reaped (pidfd_poll).
inline bool has_ended(int pidfd)
{
	pollfd look{pidfd, POLLIN, 0};
	return pidfd >= 0 && poll(&look, 1, 0) == 1;
}

} // namespace icepath::plugin_kit
