// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a selftest leaves on the machine that was killed together with everything that would have taken it away: control groups. All
// else that it puts in goes with its processes: descriptors, and the network namespaces of workers.
#include <string>
#include <vector>

namespace icepath::selftest {

// As root. Takes away the groups of dead selftests, and none of a living one. A sentence for each that couldn't be taken away.
std::vector<std::string> take_back_leftover_groups();

} // namespace icepath::selftest
