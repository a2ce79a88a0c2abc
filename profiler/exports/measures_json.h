// SPDX-License-Identifier: Apache-2.0
#pragma once
// run.json's part of a cell that comes from stamps and the workers' accounts, without any path.
#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/analysis/capture_counts.h"
#include "profiler/analysis/observer_effect.h"
#include "profiler/analysis/run_result.h"

namespace icepath::exports {

nlohmann::ordered_json text_json(const std::string &text); // null if it is empty
nlohmann::ordered_json interval_json(const std::optional<stats::Interval> &interval);
nlohmann::ordered_json distribution_json(const stats::Distribution &distribution);
nlohmann::ordered_json messages_json(const analysis::CellResult &cell);
nlohmann::ordered_json lateness_json(const analysis::CellResult &cell);
nlohmann::ordered_json throughput_json(const analysis::CellResult &cell);
nlohmann::ordered_json observer_json(const analysis::ObserverEffect &effect);
nlohmann::ordered_json limits_json(const analysis::CellResult &cell);
nlohmann::ordered_json max_rate_json(const analysis::CellResult &cell);
nlohmann::ordered_json openings_json(const analysis::CellResult &cell);
nlohmann::ordered_json drift_json(const analysis::CellResult &cell, size_t cells); // `cells`: of the run
nlohmann::ordered_json captures_json(const analysis::CaptureCounts &capture); // parallel lists, one for each key
nlohmann::ordered_json machine_state_json(const analysis::RunResult &result,
										  const std::vector<std::string> &keys); // of cells
nlohmann::ordered_json system_calls_json(const analysis::CellResult &cell); // by thread; null if none were counted
nlohmann::ordered_json usage_json(const analysis::CellResult &cell);
nlohmann::ordered_json counters_json(const analysis::CellResult &cell);
nlohmann::ordered_json cpu_json(const analysis::CellResult &cell, bool exact_split);

} // namespace icepath::exports
