// SPDX-License-Identifier: Apache-2.0
#pragma once
// The walk: from `recv` backwards to `send`, over one delivery. Pure: no clock, no file, no BPF.
#include "profiler/path/observations.h"
#include "profiler/path/path.h"

namespace icepath::path {

// Returns a complete path whose segments tile [send, recv], or an incomplete one with its reason. Reads `seen` only, so
// several walks may run on it at once. O(segments x log records).
Path walk(const Observations &seen, const Delivery &delivery);

} // namespace icepath::path
