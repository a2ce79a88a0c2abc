// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whom a process that kept root may touch at the wish of the icepath that forked it.
#include <sys/types.h>

namespace icepath::privilege {

// The number of the process, or thread of one, that `pidfd` names: a child of `icepath` that runs as `user`. Throws
// Failure(Internal) where it is anybody else.
pid_t check_own_child(int pidfd, pid_t icepath, uid_t user);

} // namespace icepath::privilege
