// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whom a process that kept root may touch at the wish of the icepath that forked it.
#include <sys/types.h>

#include <optional>

namespace icepath::privilege {

// The number of the process, or thread of one, that a pidfd names; -1: it has ended. Nothing: it is another kind of descriptor.
std::optional<pid_t> pid_of(int fd);

// The process, or thread of one, that `pidfd` names is a child of `icepath` and runs as `user`: its number. Throws Failure(Internal)
// where it is anybody else.
pid_t check_own_child(int pidfd, pid_t icepath, uid_t user);

} // namespace icepath::privilege
