// SPDX-License-Identifier: Apache-2.0
#pragma once
// The walk over one delivery, backwards from `recv` to `send`. Pure: no clock, no file, no BPF.
#include "profiler/path/observations.h"
#include "profiler/path/path.h"

namespace icepath::path {

// Returns a complete path whose segments tile [send, recv], or an incomplete one with its reason. Only reads `seen`, so
// several walks may share it.
Path walk(const Observations &seen, const Delivery &delivery);

} // namespace icepath::path
