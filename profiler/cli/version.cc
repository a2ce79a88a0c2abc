// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/version.h"

#include <fmt/format.h>

#include "icepath/plugin.h"
#include "profiler/cli/commit.h" // made by cmake/write_commit.cmake
#include "profiler/exports/run_json.h"
#include "profiler/rundir/head_json.h"

namespace icepath::cli {

std::string version_text()
{
	return fmt::format(
		"icepath {}\ncommit {}\nplug-in ABI {}.{}\ncapture format {} (reads from {} on)\nrun.json schema {}",
		ICEPATH_VERSION, kCommit, ICEPATH_PLUGIN_ABI_MAJOR, ICEPATH_PLUGIN_ABI_MINOR, rundir::kFormatVersion,
		rundir::kOldestFormat, exports::kSchema);
}

Edition edition() { return {ICEPATH_VERSION, kCommitDate}; }

} // namespace icepath::cli
