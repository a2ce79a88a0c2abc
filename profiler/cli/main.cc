// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>

#include "icepath/plugin.h"
#include "profiler/cli/commands.h"
#include "profiler/cli/output.h"
#include "profiler/cli/report_command.h"
#include "profiler/cli/signals.h"
#include "profiler/run/descriptor_limit.h"

namespace icepath::cli {

namespace {

// The terminal's, or what COLUMNS says elsewhere.
std::optional<int> width_of_output()
{
	constexpr int kNarrowest = 60, kWidest = 1000;
	winsize size{};
	int width = 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	else if (const char *columns = std::getenv("COLUMNS"))
		(void)std::from_chars(columns, columns + std::strlen(columns), width);
	return width >= kNarrowest ? std::optional(std::min(width, kWidest)) : std::nullopt;
}

} // namespace

Style style_of_terminal(bool no_colour)
{
	Style style;
	const char *term = std::getenv("TERM");
	const char *forbidden = std::getenv("NO_COLOR"); // no-color.org: set and not empty
	const bool dumb = term && std::strcmp(term, "dumb") == 0;
	const bool plain = no_colour || (forbidden && *forbidden) || dumb;
	style.colour = !plain && isatty(STDOUT_FILENO);
	style.unicode = std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	style.line_control = !dumb && isatty(STDERR_FILENO);
	if (const auto width = width_of_output())
		style.width = *width;
	return style;
}

namespace {

// All commands except those that work on a stored run.
bool starts_processes(const Command &command)
{
	return !std::holds_alternative<ReportOptions>(command) && !std::holds_alternative<ExplainOptions>(command) &&
		   !std::holds_alternative<CompareOptions>(command) && !std::holds_alternative<SetupOptions>(command) &&
		   !std::holds_alternative<FlamegraphOptions>(command) && !std::holds_alternative<ExportOptions>(command);
}

ExitCode dispatch(const CommandLine &line, uint64_t started_ns)
{
	const Style style = style_of_terminal(line.no_colour);
	if (starts_processes(line.command))
		run::check_descriptor_limit({});
	if (const auto *options = std::get_if<RunOptions>(&line.command))
		return run(*options, line.text, started_ns, style);
	if (const auto *options = std::get_if<AttachOptions>(&line.command))
		return attach(*options, line.text, style);
	if (const auto *options = std::get_if<SelftestOptions>(&line.command))
		return selftest(*options, line.text, started_ns, style);
	if (const auto *options = std::get_if<DoctorOptions>(&line.command))
		return doctor(*options, style); // tries probes, writes nothing
	if (const auto *options = std::get_if<SetupOptions>(&line.command))
		return setup(*options);
	if (const auto *options = std::get_if<CalibrateOptions>(&line.command))
		return calibrate(*options); // watches as root, writes as the invoking user
	// The other commands need no rights, and run with those of the files' reader, plug-in code included.
	const Output output = become_reader(line.command);
	leave_no_begun_files();
	if (const auto *options = std::get_if<ReportOptions>(&line.command))
		return report(*options, style);
	if (const auto *options = std::get_if<ExplainOptions>(&line.command))
		return explain(*options, style);
	if (const auto *options = std::get_if<CompareOptions>(&line.command))
		return compare(*options, style);
	if (const auto *options = std::get_if<FlamegraphOptions>(&line.command))
		return flamegraph(*options, style, output);
	if (const auto *options = std::get_if<ExportOptions>(&line.command))
		return export_files(*options, style, output);
	return list(std::get<ListOptions>(line.command));
}

} // namespace
} // namespace icepath::cli

int main(int argc, char **argv)
{
	using icepath::ExitCode;
	const uint64_t started_ns = icepath_now_ns();
	icepath::cli::reset_signals();
	icepath::cli::open_standard_streams();
	icepath::run::raise_descriptor_limit();
	signal(SIGXFSZ, SIG_IGN); // beyond RLIMIT_FSIZE, write(2) then fails with EFBIG, which is reported
	std::setlocale(LC_CTYPE, ""); // LC_NUMERIC stays that of the C locale
	ExitCode code = ExitCode::Internal;
	try {
		const auto line = icepath::cli::parse(argc, argv);
		code = line ? icepath::cli::dispatch(*line, started_ns) : ExitCode::Ok;
	} catch (const std::exception &error) {
		const icepath::Failure failure = icepath::failure_of(error);
		icepath::cli::complain(fmt::format("icepath: {}\n", failure.what()));
		code = failure.code();
	}
	return static_cast<int>(code);
}
