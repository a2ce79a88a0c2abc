// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sources of each layer of a breakdown here: the results of the probe checks, by layer.
#include <vector>

#include "profiler/capture/selection.h"
#include "profiler/doctor/doctor.h"

namespace icepath::doctor {

// One check for each layer, "layer runqueue", in the order of reports. `tried`: the result of each probe.
std::vector<Check> layer_checks(const capture::Selection &tried);

} // namespace icepath::doctor
