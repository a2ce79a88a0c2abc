// SPDX-License-Identifier: Apache-2.0
#pragma once
// The other side of InjectorProcess, in the process that injects.
#include <sys/types.h>

#include "profiler/privilege/identity.h"

namespace icepath::selftest {

// Begins as root, has what takes root, gives it up (injector_rights.h, injector_filter.h), and only then answers. Returns when the
// socket closes or icepath has ended, and what was put in has ended by then.
void serve_injections(int socket, pid_t icepath, const privilege::Identity &user);

} // namespace icepath::selftest
