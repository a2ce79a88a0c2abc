// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run of `icepath attach` for other tools: its figures as run.json (docs/attach-schema.json), a table of every
// message and request, and every path.
#include <string>
#include <vector>

#include "profiler/analysis/links.h"
#include "profiler/exports/export.h"

namespace icepath::exports {

std::string attached_json_text(const analysis::AttachedResult &result);

// csv   messages.csv: each message, and each request, with who gave and who took it
// paths paths.jsonl: the path of each of them
// Throws Failure(Usage) for another format. Memory grows with a window, not with the run.
std::vector<std::string> export_attached(const std::string &run, const std::vector<ExportFormat> &formats,
										 const std::shared_ptr<Folder> &folder);

} // namespace icepath::exports
