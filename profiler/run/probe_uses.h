// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "profiler/privilege/root_helper.h"
#include "profiler/rundir/run.h"

namespace icepath::run {

// What each layer of these cells rests on: the probes that they need, as far as they load here, and the stamps.
std::vector<rundir::ProbeUse> probe_uses(const std::vector<rundir::Cell> &cells,
										 const privilege::Helper::Loaded &loaded);

} // namespace icepath::run
