// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/report_command.h"

#include <optional>

#include "profiler/cli/commands.h"
#include "profiler/cli/output.h"
#include "profiler/cli/reading_note.h"
#include "profiler/exports/export.h"
#include "profiler/privilege/identity.h"
#include "profiler/privilege/kept_folder.h"
#include "profiler/report/report.h"
#include "profiler/rundir/container.h"

namespace icepath::cli {
namespace {

// Returns what `made` returns. Meanwhile a terminal says that the run is being read.
template <typename Made> auto after_reading(const Style &style, const Made &made)
{
	std::optional<ReadingNote> note;
	if (style.line_control)
		note.emplace(overwrite);
	return made();
}

report::Report report_of(const ReportOptions &options, const Style &style)
{
	if (options.json)
		return {report::json_of(options.run), {}};
	if (options.html)
		return {report::write_html(options.run) + "\n", {}};
	return report::report_of(options.run, {style.colour, style.unicode, style.width, options.verbose},
							 gates_of(options.gates));
}

} // namespace

ExitCode report(const ReportOptions &options, const Style &style)
{
	const report::Report made = after_reading(style, [&] { return report_of(options, style); });
	print(made.text);
	return made.of_gates;
}

ExitCode explain(const ExplainOptions &options, const Style &style)
{
	const report::Explanation told = after_reading(style, [&] {
		return report::explanation_of(options.run, options.question, {style.colour, style.unicode, style.width, true});
	});
	print(told.text);
	return told.refused ? ExitCode::Invalid : ExitCode::Ok;
}

ExitCode compare(const CompareOptions &options, const Style &style)
{
	const report::Compared told = after_reading(
		style, [&] { return report::comparison_of(options.wishes, {style.colour, style.unicode, style.width, true}); });
	print(told.text);
	return told.refused ? ExitCode::Invalid : ExitCode::Ok;
}

ExitCode flamegraph(const FlamegraphOptions &options, const Style &style, const Output &output)
{
	print(after_reading(style, [&] {
		return options.folded_only
				   ? report::folded_of(options.run, options.wishes)
				   : report::write_flamegraph(options.run, options.wishes, output.place, output.open) + "\n";
	}));
	return ExitCode::Ok;
}

ExitCode export_files(const ExportOptions &options, const Style &style, const Output &output)
{
	const auto paths = after_reading(style, [&] {
		return exports::export_run(options.run, options.formats, output.place.folder, output.open, options.kind,
								   gates_of(options.gates));
	});
	for (const std::string &path : paths)
		print(path + "\n");
	return ExitCode::Ok;
}

namespace {

struct Reading {
	std::string run, output;
	std::vector<std::string> others = {}; // further runs
	exports::OutputPlace (*place_of)(const std::string &output) = report::place_of_files;
};

Reading reading_of(const Command &command)
{
	if (const auto *options = std::get_if<ReportOptions>(&command))
		return {options->run, ""};
	if (const auto *options = std::get_if<ExplainOptions>(&command))
		return {options->run, ""};
	if (const auto *options = std::get_if<CompareOptions>(&command)) {
		std::vector<std::string> others = options->wishes.repeats;
		others.push_back(options->wishes.other);
		return {options->wishes.run, "", others};
	}
	if (const auto *options = std::get_if<FlamegraphOptions>(&command))
		return {options->run,
				options->folded_only ? "" : options->output,
				{options->wishes.other},
				report::place_of_flames};
	if (const auto *options = std::get_if<ExportOptions>(&command))
		return {options->run, options->output};
	return {};
}

class RootsFolder : public exports::Folder {
public:
	explicit RootsFolder(const exports::OutputPlace &place)
		: exports::Folder(place.folder), kept_(place.folder, place.file)
	{}
	int begin(const std::string &name) override { return kept_.begin(name).release(); }
	void keep(const std::string &name) override { kept_.keep(name); }
	void drop(const std::string &name) override { kept_.drop(name); }

private:
	privilege::KeptFolder kept_;
};

} // namespace

Output become_reader(const Command &command)
{
	const Reading reading = reading_of(command);
	const privilege::Identity user = privilege::invoking_user();
	privilege::Identity reader = user;
	std::vector<std::string> runs = reading.others;
	runs.push_back(reading.run);
	for (const std::string &run : runs)
		if (!run.empty())
			for (const std::string &path : {run, run + "/" + rundir::kContainerName, run + "/" + rundir::kPartialName})
				reader = privilege::reader_of(path, reader);
	Output output;
	const bool is_roots = user.stays_root && !reader.stays_root && !reading.output.empty();
	if (is_roots) {
		output.place = reading.place_of(reading.output);
		output.open = [folder = std::make_shared<RootsFolder>(output.place)](const auto &) { return folder; };
	}
	privilege::become(reader);
	if (!is_roots)
		output.place = reading.place_of(reading.output);
	return output;
}

} // namespace icepath::cli
