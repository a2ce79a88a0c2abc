// SPDX-License-Identifier: Apache-2.0
#pragma once
// A pidfd of one thread (PIDFD_THREAD, Linux 6.9), by which the capture marks a worker that is a thread of a process.
#include <sys/types.h>

#include <string>

namespace icepath::capture {

// The caller closes it. -1 with errno set: EINVAL if the kernel has only pidfds of whole processes.
int open_thread(pid_t tid);

// Empty, or why this kernel can't distinguish threads of one process.
std::string thread_pidfds_missing();

} // namespace icepath::capture
