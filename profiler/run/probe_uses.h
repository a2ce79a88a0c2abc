// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which probes cells need, and what their layers rest on.
#include <vector>

#include "profiler/model/run.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/run/visits.h"

namespace icepath::run {

// What each layer of these cells rests on: the probes that they need, as far as they load here, and the stamps.
std::vector<model::ProbeUse> probe_uses(const std::vector<model::Cell> &cells, const privilege::Helper::Loaded &loaded);

// Those of its cells.
capture::ProbeSet probes_of(const Visit &visit, const std::vector<model::Cell> &cells);

// Those with the same probes stand together, so that a probed round attaches little.
std::vector<Visit> in_order_of_probes(std::vector<Visit> visits, const std::vector<model::Cell> &cells);

} // namespace icepath::run
