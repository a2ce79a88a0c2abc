// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each layer of a breakdown rests on here: the same findings as the probes' own, from the layer's side.
#include <vector>

#include "profiler/capture/selection.h"
#include "profiler/doctor/doctor.h"

namespace icepath::doctor {

// One for each layer, "layer runqueue", in the order of reports. `tried` is what became of each probe.
std::vector<Check> layer_checks(const capture::Selection &tried);

} // namespace icepath::doctor
