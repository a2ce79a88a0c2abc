// SPDX-License-Identifier: Apache-2.0
#pragma once
// What run.json tells of a cell by its stamps and the workers' own accounts: everything that needs no path.
#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/report/aggregate.h"

namespace icepath::report {

// A picosecond is finer than anything measured, and keeps the file readable.
double rounded(double ns);

nlohmann::ordered_json interval_json(const std::optional<stats::Interval> &interval);
nlohmann::ordered_json distribution_json(const stats::Distribution &distribution);
nlohmann::ordered_json messages_json(const CellResult &cell);
nlohmann::ordered_json lateness_json(const CellResult &cell);
nlohmann::ordered_json throughput_json(const CellResult &cell);
nlohmann::ordered_json observer_json(const ObserverEffect &effect);
nlohmann::ordered_json limits_json(const CellResult &cell);
nlohmann::ordered_json max_rate_json(const CellResult &cell);
nlohmann::ordered_json openings_json(const CellResult &cell);
nlohmann::ordered_json drift_json(const CellResult &cell, size_t cells); // `cells`: of the run
nlohmann::ordered_json captures_json(const CaptureCounts &capture); // one list for each key, beside each other
nlohmann::ordered_json machine_state_json(const RunResult &result);
nlohmann::ordered_json system_calls_json(const CellResult &cell); // by thread; null where none were counted
nlohmann::ordered_json usage_json(const CellResult &cell);
nlohmann::ordered_json counters_json(const CellResult &cell);
nlohmann::ordered_json cpu_json(const CellResult &cell, bool exact_split);

} // namespace icepath::report
