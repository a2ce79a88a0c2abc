// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "profiler/model/run.h"
#include "profiler/privilege/root_helper.h"

namespace icepath::run {

// What each layer of these cells rests on: the probes that they need, as far as they load here, and the stamps.
std::vector<model::ProbeUse> probe_uses(const std::vector<model::Cell> &cells, const privilege::Helper::Loaded &loaded);

} // namespace icepath::run
