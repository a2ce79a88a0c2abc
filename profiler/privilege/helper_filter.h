// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which system calls the root helper still makes once its probes are loaded.

namespace icepath::privilege {

// For all threads that this one begins, and for it. Every other call returns EPERM: nothing can be executed, traced, mounted, mapped from
// others or opened for writing, and no namespace entered. Needs no_new_privs. False where the kernel takes no filter.
bool allow_capturing_calls_only();

} // namespace icepath::privilege
