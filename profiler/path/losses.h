// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is missing of a block, or can't be read.
#include "profiler/path/observations.h"

namespace icepath::path {

// How many records were captured that can't be read, as far as no other is missing beside them.
uint64_t unreadable_records(const Observations &seen);

// Whether a loss window touches [begin, end].
bool lost_within(const Observations &seen, uint64_t begin_ns, uint64_t end_ns);

} // namespace icepath::path
