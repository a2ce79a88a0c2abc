// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/report.h"

#include <algorithm>
#include <fmt/format.h>

#include "profiler/failure.h"
#include "profiler/report/flamegraph.h"
#include "profiler/report/notices.h"
#include "profiler/report/run_json.h"
#include "profiler/report/tail.h"

namespace icepath::report {
namespace {

std::string write_file(const std::shared_ptr<Folder> &folder, const std::string &name, const std::string &text)
{
	WrittenFile file(folder, name);
	file.add(text);
	file.done();
	return file.path();
}

} // namespace

Report report_of(const std::string &run, const Style &style)
{
	const RunResult result = analyse(run);
	return {terminal_report(result, style), flaws(result)};
}

std::string tails_of(const std::string &run, const std::string &only, const Style &style)
{
	Page page({style.colour, style.unicode}, static_cast<size_t>(std::clamp(style.width, 40, 1000)));
	add_tails(page, analyse(run), only);
	std::string text = page.take();
	if (text.empty())
		throw Failure(ExitCode::Usage,
					  only.empty() ? run + ": no cell was measured with probes"
								   : fmt::format("--cell: no cell that was measured has \"{}\" in its title: `icepath "
												 "report -v {}` has their titles",
												 only, run));
	return text;
}

Report report_and_write(const std::string &run, const Style &style)
{
	const RunResult result = analyse(run);
	write_file(own_folder(directory_of(run)), "run.json", run_json_text(result));
	return {terminal_report(result, style), flaws(result)};
}

std::string write_flamegraph(const std::string &run, const std::string &directory, const OpenFolder &open)
{
	const RunResult result = analyse(run);
	const auto to = output_folder(run, directory, open);
	const Stacks all = stacks(result);
	write_file(to, "latency.folded", folded(all));
	const std::string title = fmt::format("{} · {}", result.head.command_line, result.head.started_utc);
	return write_file(to, "latency.svg", flamegraph_svg(all, messages_of_cells(result), title));
}

std::string json_of(const std::string &run) { return run_json_text(analyse(run)); }

std::string folded_of(const std::string &run) { return folded(stacks(analyse(run))); }

} // namespace icepath::report
