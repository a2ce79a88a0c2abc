// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which probes cells need, and the sources of their layers.
#include <vector>

#include "profiler/model/run.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/run/visits.h"

namespace icepath::run {

// The source of each layer of these cells: the needed probes, if they load here, and the stamps.
std::vector<model::ProbeUse> probe_uses(const std::vector<model::Cell> &cells, const privilege::Helper::Loaded &loaded);

// The probes that the visit's cells need.
capture::ProbeSet probes_of(const Visit &visit, const std::vector<model::Cell> &cells);

// Groups visits with the same probes, so that a probed round attaches few.
std::vector<Visit> in_order_of_probes(std::vector<Visit> visits, const std::vector<model::Cell> &cells);

} // namespace icepath::run
