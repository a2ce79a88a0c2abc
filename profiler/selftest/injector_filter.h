// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which system calls the process that injects still makes once it is asked for anything.

namespace icepath::selftest {

// For it and all that it forks. Every other call returns EPERM: nothing can be executed, traced, mounted, loaded, connected, opened for
// writing or mapped to be run, nobody but a child of its user's be killed, and no namespace but network ones be entered. Filters
// of devices are put in over netlink sockets. Needs
// no_new_privs. Throws Failure(MachineCannot) where the kernel takes no filter.
void allow_injecting_calls_only(bool with_filters_of_devices);

} // namespace icepath::selftest
