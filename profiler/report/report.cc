// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/report.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

#include "profiler/failure.h"
#include "profiler/report/flamegraph.h"
#include "profiler/report/notices.h"
#include "profiler/report/quantity.h"
#include "profiler/report/run_json.h"

namespace icepath::report {
namespace {

namespace fs = std::filesystem;

// Under another name first: who reads while we write gets the old file or the new one.
void write_file(const fs::path &path, const std::string &text)
{
	const std::string partial = path.string() + ".partial";
	std::FILE *file = std::fopen(partial.c_str(), "we");
	bool good = file != nullptr;
	int why = errno;
	if (file) {
		good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
		why = errno;
		if (std::fclose(file) != 0 && good) {
			good = false;
			why = errno;
		}
	}
	if (good && std::rename(partial.c_str(), path.c_str()) != 0) {
		good = false;
		why = errno;
	}
	if (good)
		return;
	std::remove(partial.c_str());
	throw Failure(ExitCode::Usage, fmt::format("{} can't be written: {}; choose another directory with -o",
											   path.string(), std::strerror(why)));
}

// A run may also be given by its container.
fs::path directory_of(const std::string &run)
{
	return fs::is_directory(run) ? fs::path(run) : fs::path(run).parent_path();
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
	const fs::path to = directory.empty() ? directory_of(run) : fs::path(directory);
	std::error_code error;
	fs::create_directories(to, error);
	const Stacks all = stacks(result);
	write_file(to / "latency.folded", folded(all));
	const std::string title = printable(fmt::format("{} · {}", result.head.command_line, result.head.started_utc));
	write_file(to / "latency.svg", flamegraph_svg(all, messages_of_cells(result), title));
	return (to / "latency.svg").string();
}

std::string json_of(const std::string &run) { return run_json_text(analyse(run)); }

std::string folded_of(const std::string &run) { return folded(stacks(analyse(run))); }

} // namespace icepath::report
