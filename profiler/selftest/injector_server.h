// SPDX-License-Identifier: Apache-2.0
#pragma once
// The server of InjectorProcess, in the injecting process.
#include <sys/types.h>

#include "profiler/privilege/identity.h"

namespace icepath::selftest {

// Starts as root, obtains what needs root, gives root up (injector_rights.h, injector_filter.h), and only then answers.
// Returns when the socket closes or icepath has ended; every injection has ended by then.
void serve_injections(int socket, pid_t icepath, const privilege::Identity &user);

} // namespace icepath::selftest
