// SPDX-License-Identifier: Apache-2.0
#pragma once
// What gates find, for continuous integration.
#include <string>

#include "profiler/analysis/run_result.h"
#include "profiler/gate/judge.h"

namespace icepath::exports {

// JUnit's XML as Jenkins' junit-10.xsd has it, which GitLab and actions for GitHub read as well: a suite for each gate,
// a case for each expectation and cell. What is missed is a failure. What is undecided or missing is an error and never
// skipped, because readers take a skipped case for a good one; where a gate only warns, the case passes and says so.
std::string junit_xml(const analysis::RunResult &result, const gate::Judgement &judgement);

// A summary for a comment, in Markdown (text/markdown.h): what gates find, the worst first, then the cells' figures. It
// says how many rows there was no room for.
std::string summary_markdown(const analysis::RunResult &result, const gate::Judgement &judgement);

} // namespace icepath::exports
