// SPDX-License-Identifier: Apache-2.0
#pragma once
// The processes that a privileged process may touch at the request of the icepath that forked it.
#include <sys/types.h>

#include <optional>

namespace icepath::privilege {

// The id of the process or thread that a pidfd names; -1: it has ended. Nothing: another kind of descriptor.
std::optional<pid_t> pid_of(int fd);

// Returns the id of the process or thread that `pidfd` names, if it is a child of `icepath` and runs as `user`. Throws
// Failure(Internal) otherwise.
pid_t check_own_child(int pidfd, pid_t icepath, uid_t user);

} // namespace icepath::privilege
