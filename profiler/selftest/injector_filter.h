// SPDX-License-Identifier: Apache-2.0
#pragma once
// The system calls that the injecting process may make once it takes requests.

namespace icepath::selftest {

// For the process and all its children. Every other call returns EPERM: no execution, tracing, mounting, loading or
// connecting, no file opened for writing or mapped for execution, no signal but 0 and SIGKILL by pidfd, and no
// namespace entered but network ones. Filters on devices use netlink sockets. Needs no_new_privs. Throws
// Failure(MachineCannot) if the kernel accepts no filter.
void allow_injecting_calls_only(bool with_filters_of_devices);

} // namespace icepath::selftest
