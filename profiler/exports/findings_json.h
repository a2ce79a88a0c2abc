// SPDX-License-Identifier: Apache-2.0
#pragma once
// run.json's findings: what the report says of a run, as data with stable ids, and how far it trusts it.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/analysis/run_result.h"
#include "profiler/explain/finding.h"

namespace icepath::exports {

// `keys`: of the cells.
nlohmann::ordered_json finding_json(const explain::Finding &finding, const std::vector<std::string> &keys);
// How the run ended, then its notices, then what trust in it rests on, then what it was quiet enough
// for.
nlohmann::ordered_json findings_json(const analysis::RunResult &result, const std::vector<std::string> &keys);
nlohmann::ordered_json trust_json(const analysis::RunResult &result);

} // namespace icepath::exports
