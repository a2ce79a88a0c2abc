// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "profiler/model/cell.h"

namespace icepath::run {

// Raises icepath's limit of open descriptors to the hard limit: each side of a cell needs some.
void raise_descriptor_limit();

// Throws Failure(MachineCannot) if icepath or its root helper may open fewer files than a run of these cells needs.
// Running out of them later would look like any other failure.
void check_descriptor_limit(const std::vector<model::Cell> &cells);

// For a forked child: restores the limit from before raise_descriptor_limit(), or the usual one if that was lower. A
// high limit breaks libraries that use select(2), or that close every possible descriptor. Async-signal-safe.
void restore_descriptor_limit();

} // namespace icepath::run
