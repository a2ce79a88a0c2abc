// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report of a run that still goes on, made only to learn how long it takes.
#include <functional>
#include <string>

namespace icepath::cli {

// Runs `PROGRAM report -- RUN` without output, and waits for it. What that takes of memory is gone with its process: a
// run of hours keeps nothing of it. False: it failed, or `stops` said true before it ended, which it is asked ten times
// a second; then the process is killed.
bool rehearse_report(const std::string &program, const std::string &run, const std::function<bool()> &stops);

} // namespace icepath::cli
