// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace icepath::worker {

// Locks all present and future mappings of this process. A page is locked once it is touched (MCL_ONFAULT): middleware
// maps pools of which it uses little. Returns why that failed; empty: it succeeded.
std::string lock_memory();

} // namespace icepath::worker
