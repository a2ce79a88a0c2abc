// SPDX-License-Identifier: Apache-2.0
#pragma once
// IPC objects of the run's own. A System V queue belongs to no process, so a run that is killed would leave it behind;
// in a namespace it goes with the last process (free_ipc_ns).
#include <optional>
#include <string>

namespace icepath::privilege {

// Moves this process, and the children that it forks from here on, into an IPC namespace of their own, with the host's
// limits. Needs CAP_SYS_ADMIN. Returns what wasn't possible, for the report's notices; the run can go on without.
std::optional<std::string> enter_own_ipc_namespace();

} // namespace icepath::privilege
