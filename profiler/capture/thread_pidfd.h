// SPDX-License-Identifier: Apache-2.0
#pragma once
// A pidfd of one thread, by which the capture marks a worker that is a thread of a process (PIDFD_THREAD, Linux 6.9).
#include <sys/types.h>

#include <string>

namespace icepath::capture {

// The caller's to close; -1 with errno set: EINVAL where the kernel knows only pidfds of whole processes.
int open_thread(pid_t tid);

// Empty, or why threads of one process can't be told apart here.
std::string thread_pidfds_missing();

} // namespace icepath::capture
