// SPDX-License-Identifier: Apache-2.0
#pragma once
// The run's own IPC objects. A System V queue belongs to no process, so a killed run would leave it behind; a
// namespace's queues go with its last process (free_ipc_ns).
#include <optional>
#include <string>

namespace icepath::privilege {

// Moves this process, and its future children, into an IPC namespace of their own, with the host's limits. Needs
// CAP_SYS_ADMIN. Returns what wasn't possible, for the report's notices; the run can go on without it.
std::optional<std::string> enter_own_ipc_namespace();

} // namespace icepath::privilege
