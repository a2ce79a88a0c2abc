// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which cells of a run are measured at the same time. Sparse messages leave the machine to others for most of the time, so
// cells that send them take turns: as many blocks in the time of one. Pure.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/model/cell.h"

namespace icepath::run {

// What a round does one after another: indices into the run's cells.
using Visit = std::vector<size_t>;

// Each cell once, in their order but for those that join an earlier one. A cell is alone unless it is sparse and its receivers
// sleep: who polls takes the CPU from the others.
std::vector<Visit> visits_of(const std::vector<model::Cell> &cells);

// When the n-th of so many cells of a visit sends its first message, after the visit's begin: evenly over a period.
uint64_t first_after_ns(const model::Cell &cell, size_t n, size_t cells);

} // namespace icepath::run
