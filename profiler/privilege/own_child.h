// SPDX-License-Identifier: Apache-2.0
#pragma once
// The processes that a privileged process may touch at the request of the icepath that forked it.
#include <sys/types.h>

#include <optional>

namespace icepath::privilege {

// The id of the process or thread that a pidfd names; -1: it has ended. Nothing: another kind of descriptor.
std::optional<pid_t> pid_of(int fd);

// Returns the id of the process or thread that `pidfd` names, if it is a child of `icepath` and runs as `user`, with no
// other user or group, real or not. Throws Failure(Internal) otherwise.
pid_t check_own_child(int pidfd, pid_t icepath, uid_t user);

// Whether this process may look into that one, as ptrace(2) decides: it may not if that has more capabilities, or had
// other rights since it executed its program.
bool may_be_traced(pid_t pid);

// Its real group; nothing if it has ended.
std::optional<gid_t> group_of(pid_t pid);

} // namespace icepath::privilege
