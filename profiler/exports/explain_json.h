// SPDX-License-Identifier: Apache-2.0
#pragma once
// `icepath explain --json`: docs/explain-schema.json.
#include <string>
#include <vector>

#include "profiler/explain/against.h"
#include "profiler/explain/tail.h"

namespace icepath::exports {

inline constexpr int kExplainSchema = 2;

// `cells`: indices of the cells; `tails`: the tail of each.
std::string tails_json(const analysis::RunResult &result, const std::vector<size_t> &cells,
					   const std::vector<explain::TailExplanation> &tails);
std::string against_json(const analysis::RunResult &result, const explain::Against &against);
std::string messages_json(const analysis::RunResult &result,
						  const std::vector<const analysis::WorstMessage *> &messages);

} // namespace icepath::exports
