// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records of a block that are missing or unreadable.
#include "profiler/path/observations.h"

namespace icepath::path {

// Number of captured records that can't be read; a lower bound where others are missing too.
uint64_t unreadable_records(const Observations &seen);

// Whether a loss window touches [begin, end].
bool lost_within(const Observations &seen, uint64_t begin_ns, uint64_t end_ns);

} // namespace icepath::path
