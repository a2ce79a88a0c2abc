// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report of a run that still goes on, made only to learn how long it takes.
#include <functional>
#include <string>

namespace icepath::cli {

// Runs `PROGRAM report -- RUN` without output, and waits for it. Its memory is gone with its process, so a run of hours
// keeps nothing of it. `stops` is asked ten times a second whether to kill the process. False: the report failed, or
// was killed.
bool rehearse_report(const std::string &program, const std::string &run, const std::function<bool()> &stops);

} // namespace icepath::cli
