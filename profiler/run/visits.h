// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which cells of a run are measured at the same time. Sparse messages leave the machine idle most of the time, so cells
// that send them take turns: several blocks in the time of one. Pure.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/model/cell.h"

namespace icepath::run {

// One step of a round: indices of the cells that are measured at the same time.
using Visit = std::vector<size_t>;

// Each cell once, in order, except that a cell may join an earlier visit. A cell is alone unless it is sparse and its
// receivers sleep: a polling receiver takes the CPU from the others.
std::vector<Visit> visits_of(const std::vector<model::Cell> &cells);

// When the n-th of a visit's cells sends its first message, after the visit's begin. First messages are spread evenly
// over a period. 0 if the cell is alone.
uint64_t first_after_ns(const model::Cell &cell, size_t n, size_t cells);

} // namespace icepath::run
