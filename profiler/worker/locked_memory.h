// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace icepath::worker {

// What this process has mapped, and what it will map, stays in memory once it is there. Pages that nobody has touched aren't
// brought in: middleware maps pools of which it uses little. Returns why it can't be; empty: it is so.
std::string lock_memory();

} // namespace icepath::worker
