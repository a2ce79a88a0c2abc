// SPDX-License-Identifier: Apache-2.0
#pragma once
// Figures of /proc/meminfo (proc_meminfo(5)). Huge pages are those of the default size, as in vm.nr_hugepages.
#include <cstdint>
#include <string>

#include "profiler/isolation/knobs.h"

namespace icepath::isolation {

// In the file's unit: KiB, or pages for HugePages_*. 0: it has no such line. The keeper may call it while it isolates.
uint64_t memory_info(const Tree &tree, const std::string &name);

// What remains of huge pages that are taken back while programs have them: they stay as surplus pages until then.
// `before`: HugePages_Surp before they were taken back. Empty: nothing remains.
std::string pages_that_remain(const Tree &tree, uint64_t before);

} // namespace icepath::isolation
