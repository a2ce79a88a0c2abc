// SPDX-License-Identifier: Apache-2.0
#pragma once
// The helper's check of a running program that it is to watch.
#include <sys/types.h>

#include "ebpf/records.h"

namespace icepath::privilege {

// What the process of a pidfd might do all through the check. Throws Failure(Usage), with a sentence for the user,
// unless it is a running program other than `icepath` and this process.
icepath_rights check_target(int pidfd, pid_t icepath);

} // namespace icepath::privilege
