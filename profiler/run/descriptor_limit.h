// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "profiler/model/cell.h"

namespace icepath::run {

// Lets icepath hold as many descriptors as the machine allows: each side of a cell takes some.
void raise_descriptor_limit();

// Throws Failure(MachineCannot) where icepath or its root helper may open fewer files than a run of these cells needs. Who runs out
// of them in the middle of something can't tell that from other failures.
void check_descriptor_limit(const std::vector<model::Cell> &cells);

// In a child that was forked: the limit is what it was before raise_descriptor_limit(), or the usual one where that was lower. Libraries
// that use select(2), or that close every number there may be, don't bear a high one. Async-signal-safe.
void restore_descriptor_limit();

} // namespace icepath::run
