// SPDX-License-Identifier: Apache-2.0
#pragma once
// All paths of a run as lines of JSON, for programs that examine single messages: a line for each probed block, then
// one for each of its deliveries. docs/formats.md describes them.
#include <cstdint>
#include <string>

#include "profiler/model/block.h"
#include "profiler/model/cell.h"
#include "profiler/path/observations.h"
#include "profiler/path/path.h"

namespace icepath::exports {

// "kworker/1:2", "interrupt 24", "idle CPU".
std::string name_of(const path::Culprit &culprit, const path::Observations &seen);

// The path's segments as a JSON list, empty unless it is complete.
std::string segments_text(const path::Path &path, const path::Observations &seen);

// Each ends with a line feed. `number`: index among all of the run's blocks, from 0.
std::string block_line(const model::Block &block, const model::Cell &cell, uint64_t number);
std::string path_line(const path::Path &path, const path::Delivery &delivery, const path::Observations &seen,
					  const model::Cell &cell, uint64_t block_number);

} // namespace icepath::exports
