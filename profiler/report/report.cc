// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/report.h"

#include <fmt/format.h>

#include "profiler/report/flamegraph.h"
#include "profiler/report/notices.h"
#include "profiler/report/quantity.h"
#include "profiler/report/run_json.h"
#include "profiler/report/written_file.h"

namespace icepath::report {
namespace {

void write_file(const std::filesystem::path &path, const std::string &text)
{
	WrittenFile file(path);
	file.add(text);
	file.done();
}

} // namespace

Report report_of(const std::string &run, const Style &style)
{
	const RunResult result = analyse(run);
	return {terminal_report(result, style), flaws(result)};
}

Report report_and_write(const std::string &run, const Style &style)
{
	const RunResult result = analyse(run);
	write_file(directory_of(run) / "run.json", run_json_text(result));
	return {terminal_report(result, style), flaws(result)};
}

std::string write_flamegraph(const std::string &run, const std::string &directory)
{
	const RunResult result = analyse(run);
	const auto to = output_directory(run, directory);
	const Stacks all = stacks(result);
	write_file(to / "latency.folded", folded(all));
	const std::string title = fmt::format("{} · {}", result.head.command_line, result.head.started_utc);
	write_file(to / "latency.svg", flamegraph_svg(all, messages_of_cells(result), title));
	return (to / "latency.svg").string();
}

std::string json_of(const std::string &run) { return run_json_text(analyse(run)); }

std::string folded_of(const std::string &run) { return folded(stacks(analyse(run))); }

} // namespace icepath::report
