// SPDX-License-Identifier: Apache-2.0
#pragma once
// run.json's part of a cell that comes from its messages' paths.
#include <nlohmann/json.hpp>

#include "profiler/analysis/cell_result.h"
#include "profiler/analysis/followed_messages.h"

namespace icepath::exports {

// A list of layers, each with its parts. Null without a message: so are the means.
nlohmann::ordered_json layers_json(const analysis::Breakdown &breakdown);
nlohmann::ordered_json mean_json(const analysis::Breakdown &breakdown); // what its layers add up to
nlohmann::ordered_json modes_json(const analysis::CellResult &cell);
nlohmann::ordered_json culprits_json(const analysis::Culprits &culprits);
nlohmann::ordered_json culprit_sums_json(const analysis::Culprits::Sums &sums);
nlohmann::ordered_json worst_json(const analysis::WorstMessage *worst);

} // namespace icepath::exports
