// SPDX-License-Identifier: Apache-2.0
#pragma once
// A library's threads that handled messages of a block's sides, by its stamps (Wait::Callback).
#include <cstdint>
#include <set>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/model/graph.h"

namespace icepath::model {

// By side, without the sides' own threads.
std::vector<std::set<uint32_t>> handlers_of(const Block &block, const Graph &graph);

} // namespace icepath::model
