// SPDX-License-Identifier: Apache-2.0
#pragma once
// `icepath explain --json`: docs/explain-schema.json.
#include <string>
#include <vector>

#include "profiler/report/against.h"
#include "profiler/report/one_message.h"
#include "profiler/report/tail.h"

namespace icepath::report {

inline constexpr int kExplainSchema = 2;

// `cells`: indices of the cells; `tails`: the tail of each.
std::string tails_json(const RunResult &result, const std::vector<size_t> &cells,
					   const std::vector<TailExplanation> &tails);
std::string against_json(const RunResult &result, const Against &against);
std::string messages_json(const RunResult &result, const std::vector<const WorstMessage *> &messages);

} // namespace icepath::report
