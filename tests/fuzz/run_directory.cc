// SPDX-License-Identifier: Apache-2.0
// A container of any bytes, through everything that reads a run directory: reports result, or Failure(Usage), nothing
// else. Checksums are made valid, because nothing behind an invalid one would be tested.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "profiler/analysis/analyse.h"
#include "profiler/analysis/flamegraph.h"
#include "profiler/exports/run_json.h"
#include "profiler/failure.h"
#include "profiler/pages/flame_svg.h"
#include "profiler/pages/html_report.h"
#include "profiler/text/terminal.h"
#include "tests/rundir/damage.h"

namespace {

void must(bool holds)
{
	if (!holds)
		std::abort();
}

void report_all(const std::string &run)
{
	using namespace icepath;
	const analysis::RunResult result = analysis::analyse(run);
	for (const analysis::CellResult &cell : result.cells) {
		uint64_t incomplete = 0;
		for (const uint64_t count : cell.paths.incomplete)
			incomplete += count;
		must(cell.paths.complete() + incomplete == cell.paths.deliveries);
		must(cell.paths.layers.sum_error_ns() == 0);
	}
	must(!text::terminal_report(result, {.unicode = true}).empty());
	must(nlohmann::json::accept(exports::run_json_text(result)));
	must(!pages::html_report(result).empty());
	must(!pages::flame_svg(analysis::flame_graph(result, analysis::FlameMessages::All, ""), "x").empty());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	std::string bytes(reinterpret_cast<const char *>(data), size);
	icepath::rundir::mend_checksums(bytes);
	const int fd = memfd_create("icepath-fuzz", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
	try {
		report_all("/proc/self/fd/" + std::to_string(fd));
	} catch (const icepath::Failure &failure) {
		must(failure.code() == icepath::ExitCode::Usage);
	}
	close(fd);
	return 0;
}
