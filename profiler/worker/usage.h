// SPDX-License-Identifier: Apache-2.0
#pragma once
// Resources that a block used, by the kernel's accounts: getrusage(2).
#include <sys/resource.h>

#include "profiler/model/block.h"

namespace icepath::worker {

// Usage of the calling thread, or of its whole process.
rusage usage_now(bool of_process);
model::Usage usage_between(const rusage &begin, const rusage &end);

} // namespace icepath::worker
