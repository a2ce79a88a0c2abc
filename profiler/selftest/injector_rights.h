// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rights that the injecting process keeps of root. Each function succeeds or throws Failure(MachineCannot): a
// process that could do more than it should doesn't start.
#include "profiler/privilege/rights.h"

namespace icepath::selftest {

// First: a session, working directory, standard descriptors and environment that are nobody's, no core file, and no
// privilege through execution. Keeps the delays' stretch (stretch.h).
void leave_the_users_session();

// Becomes another user than root, with the few capabilities that injecting needs (injector_rights.cc), among them
// changes to a network's devices only if requested. Files of root's must be open already.
void keep_rights_for_injecting(bool with_filters_of_devices, const privilege::Identity &user, pid_t icepath);

// For the process that removes a control group and stays user 0: only the capability to write into a folder that is
// closed to writing, as the root of a hierarchy of control groups is.
void keep_rights_for_removing();

} // namespace icepath::selftest
