// SPDX-License-Identifier: Apache-2.0
#pragma once
// run.json's part of a cell that comes from its messages' paths.
#include <nlohmann/json.hpp>

#include "profiler/report/aggregate.h"

namespace icepath::report {

// A list of layers, each with its parts. Null without a message: so are the means.
nlohmann::ordered_json layers_json(const Breakdown &breakdown);
nlohmann::ordered_json mean_json(const Breakdown &breakdown); // what its layers add up to
nlohmann::ordered_json modes_json(const CellResult &cell);
nlohmann::ordered_json culprits_json(const Culprits &culprits);
nlohmann::ordered_json culprit_sums_json(const Culprits::Sums &sums);
nlohmann::ordered_json worst_json(const WorstMessage *worst);

} // namespace icepath::report
