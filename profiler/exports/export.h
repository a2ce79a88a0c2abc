// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's messages for other tools: histograms for the HdrHistogram family, a table of every message, and every path.
#include <string>
#include <vector>

#include "profiler/analysis/flamegraph.h"
#include "profiler/exports/written_file.h"
#include "profiler/gate/gate_file.h"

namespace icepath::exports {

enum class ExportFormat {
	Hgrm,
	Hlog,
	Csv,
	Paths,
	Perfetto,
	Speedscope,
	Firefox,
	Junit,
	Markdown,
	BenchmarkAction,
	Bencher,
	Otava
};
inline constexpr const char *kExportFormatNames[] = {"hgrm",       "hlog",    "csv",   "paths",    "perfetto",
													 "speedscope", "firefox", "junit", "markdown", "benchmark-action",
													 "bencher",    "otava"};

// Writes into `directory`, or into the run directory if that is empty, and returns the paths of the files.
//
// hgrm  one percentile distribution for each cell, in microseconds: one-way latency of unprobed blocks without warm-up
// hlog  the same as one histogram log, latency.hlog, in nanoseconds: an interval for each block, tagged with its cell
// csv   messages.csv: each message of each kept block, warm-up and probed ones marked; latency_ns is empty where a
//       message never came
// paths paths.jsonl: each probed block, followed by the path of each of its deliveries: see path_lines.h. Memory grows
//       with a block, not with the run
// perfetto  paths.perfetto-trace: the same paths as a trace: see perfetto.h
// speedscope latency.speedscope.json, or of another kind: see flamegraph.h
// firefox  latency.firefox-profile.json: likewise, see firefox_profile.h
// junit, markdown  junit.xml and summary.md: what gates find, see gate_files.h
// benchmark-action, bencher, otava  a cell's figures for trackers of benchmarks, see tracker_files.h
//
// `kind`: of flame graphs. If it isn't Path, all formats must be flame graphs. `gates`: of junit, which needs some, and
// of markdown; others refuse them. Throws Failure(Usage) if the run can't be read or a file can't be written.
std::vector<std::string> export_run(const std::string &run, const std::vector<ExportFormat> &formats,
									const std::string &directory, const OpenFolder &open = made_folder,
									analysis::FlameKind kind = analysis::FlameKind::Path,
									const std::vector<gate::Gate> &gates = {});

} // namespace icepath::exports
