// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/commands.h"
#include "profiler/cli/output.h"
#include "profiler/report/export.h"
#include "profiler/report/report.h"

namespace icepath::cli {

ExitCode report(const ReportOptions &options, const Style &style)
{
	if (options.json)
		print(report::json_of(options.run));
	else
		print(report::report_of(options.run, {style.colour, style.unicode, style.width, options.verbose}).text);
	return ExitCode::Ok;
}

ExitCode flamegraph(const FlamegraphOptions &options, const report::OpenFolder &open)
{
	print(options.folded_only ? report::folded_of(options.run)
							  : report::write_flamegraph(options.run, options.output, open) + "\n");
	return ExitCode::Ok;
}

ExitCode export_files(const ExportOptions &options, const report::OpenFolder &open)
{
	for (const std::string &path : report::export_run(options.run, options.formats, options.output, open))
		print(path + "\n");
	return ExitCode::Ok;
}

} // namespace icepath::cli
