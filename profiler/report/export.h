// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's messages for other tools: histograms that the HdrHistogram family reads, a table of every message, and every path.
#include <string>
#include <vector>

#include "profiler/report/written_file.h"

namespace icepath::report {

enum class ExportFormat { Hgrm, Hlog, Csv, Paths };
inline constexpr const char *kExportFormatNames[] = {"hgrm", "hlog", "csv", "paths"};

// Writes into `directory`, or into the run directory where it is empty, and returns the paths of what it wrote.
//
// hgrm  one percentile distribution for each cell, in microseconds: one-way latency of unprobed blocks, warm-up left out
// hlog  the same as one histogram log, latency.hlog, with an interval for each block and the cell as its tag, nanoseconds
// csv   messages.csv: each message of each block that is kept, warm-up and probed ones marked; latency_ns is empty where
//       a message never came
// paths paths.jsonl: each probed block, and after it the path of each of its deliveries: see path_lines.h. Memory grows with a
//       block, not with the run
//
// Throws Failure(Usage) where the run can't be read or a file can't be written.
std::vector<std::string> export_run(const std::string &run, const std::vector<ExportFormat> &formats,
									const std::string &directory, const OpenFolder &open = made_folder);

} // namespace icepath::report
