// SPDX-License-Identifier: Apache-2.0
#pragma once
// Control groups are all that a selftest leaves on the machine if it is killed together with the processes that would
// clean up. Everything else that it injects ends with its processes: descriptors, and the workers' network namespaces.
#include <string>
#include <vector>

namespace icepath::selftest {

// As root. Removes the groups of dead selftests, and none of a living one. Returns a sentence for each failure.
std::vector<std::string> take_back_leftover_groups();

} // namespace icepath::selftest
