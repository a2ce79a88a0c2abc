// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the kernel's counts say of lost and of slow messages.
#include <optional>

#include "profiler/analysis/cell_result.h"
#include "profiler/explain/finding.h"

namespace icepath::explain {

// Datagrams that the kernel dropped at full receive buffers of the cell's own sockets: those that both the sockets and
// their namespace counted.
uint64_t dropped_at_full_buffers(const analysis::CellResult &cell);

// Whether slow messages come with what was dropped at the cell's sockets, or what TCP sent again: by blocks, those with
// such a message against the others. `index`: the cell's. Nothing: there are none, or they don't come together by more
// than chance.
std::optional<Finding> stalls_with_drops(const analysis::CellResult &cell, size_t index);
std::optional<Finding> stalls_with_resends(const analysis::CellResult &cell, size_t index);

// Whether late messages came only with the one that was sent after them. Nothing: no more than by chance.
std::optional<Finding> brought_by_next(const analysis::CellResult &cell, size_t index);

} // namespace icepath::explain
