// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of findings (explain/finding.h): the only place where they become sentences. Findings must be of the run
// that is passed with them.
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/run_result.h"
#include "profiler/explain/finding.h"
#include "profiler/explain/trust.h"

namespace icepath::text {

// Without the cell's title: "7 of 100 messages lost".
std::string words(const analysis::RunResult &result, const explain::Finding &finding);

// With the cell's title, if it is of a cell: "pipe 64 B pingpong block: 7 of 100 messages lost".
std::string sentence(const analysis::RunResult &result, const explain::Finding &finding);
std::vector<std::string> sentences(const analysis::RunResult &result, const std::vector<explain::Finding> &findings);

// All notices of a run, and what a report on one screen says of them: what the run recorded, and then what cells have
// that neither the table shows nor trust sums up. A notice that many cells share is one sentence.
std::vector<std::string> notice_sentences(const analysis::RunResult &result);
std::vector<std::string> brief_notices(const analysis::RunResult &result);

// What a grade of trust rests on, the most important first, and the option or command that mends it; empty if nothing
// is to be mended.
std::vector<std::string> facts_of(const analysis::RunResult &result, const explain::Trust &trust);
std::string mend_text(const explain::Trust &trust);

// Why there is less than was planned; empty if the run is complete.
std::string unfinished_text(const analysis::RunResult &result);

} // namespace icepath::text
