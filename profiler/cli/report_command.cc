// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "profiler/cli/commands.h"
#include "profiler/report/report.h"

namespace icepath::cli {

ExitCode report(const ReportOptions &options, const Style &style)
{
	report::print(options.run, {style.colour, style.unicode, style.width});
	return ExitCode::Ok;
}

ExitCode flamegraph(const FlamegraphOptions &options)
{
	if (options.folded_only)
		report::print_folded(options.run);
	else
		fmt::print("{}\n", report::write_flamegraph(options.run, options.output));
	return ExitCode::Ok;
}

} // namespace icepath::cli
