// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/thread_pidfd.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace icepath::capture {
namespace {

constexpr unsigned kPidfdThread = O_EXCL; // PIDFD_THREAD of linux/pidfd.h, which Debian 12's header lacks

} // namespace

int open_thread(pid_t tid) { return static_cast<int>(syscall(SYS_pidfd_open, tid, kPidfdThread)); }

std::string thread_pidfds_missing()
{
	if (const int self = open_thread(gettid()); self >= 0) {
		close(self);
		return {};
	}
	if (errno == EINVAL)
		return "this kernel has no pidfd of a thread (PIDFD_THREAD): needs Linux 6.9";
	return std::string("can't open a pidfd of a thread: ") + std::strerror(errno);
}

} // namespace icepath::capture
