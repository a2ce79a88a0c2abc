// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the process that injects keeps of root. Each of these is done or throws Failure(MachineCannot): one that could do more than it
// should doesn't begin.
#include "profiler/privilege/rights.h"

namespace icepath::selftest {

// First: a session, a working directory, standard descriptors and an environment of nobody's, no core, and nothing gained by executing
// anything. Delays stay as long as they were (stretch.h).
void leave_the_users_session();

// Another user than root, who has the few capabilities that injecting needs (injector_rights.cc). Files that are root's must be open.
// Changing a network's devices is among them only where that is wanted.
void keep_rights_for_injecting(bool with_filters_of_devices, const privilege::Identity &user, pid_t icepath);

// Of the process that takes a control group away, which stays user 0: no capability but to write into a folder that is closed to writing,
// as the root of a hierarchy of control groups is.
void keep_rights_for_removing();

} // namespace icepath::selftest
