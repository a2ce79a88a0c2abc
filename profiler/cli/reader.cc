// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/reader.h"

#include "profiler/privilege/identity.h"
#include "profiler/privilege/kept_folder.h"
#include "profiler/rundir/container.h"

namespace icepath::cli {
namespace {

struct Reading {
	std::string run, output; // empty: none
};

Reading reading_of(const Command &command)
{
	if (const auto *options = std::get_if<ReportOptions>(&command))
		return {options->run, ""};
	if (const auto *options = std::get_if<FlamegraphOptions>(&command))
		return {options->run, options->folded_only ? "" : options->output};
	if (const auto *options = std::get_if<ExportOptions>(&command))
		return {options->run, options->output};
	return {};
}

class RootsFolder : public report::Folder {
public:
	explicit RootsFolder(const std::string &path) : Folder(path), kept_(path) {}
	int begin(const std::string &name) override { return kept_.begin(name).release(); }
	void keep(const std::string &name) override { kept_.keep(name); }
	void drop(const std::string &name) override { kept_.drop(name); }

private:
	privilege::KeptFolder kept_;
};

} // namespace

report::OpenFolder become_reader(const Command &command)
{
	const Reading reading = reading_of(command);
	const privilege::Identity user = privilege::invoking_user();
	privilege::Identity reader = user;
	if (!reading.run.empty())
		for (const std::string &path :
			 {reading.run, reading.run + "/" + rundir::kContainerName, reading.run + "/" + rundir::kPartialName})
			reader = privilege::reader_of(path, reader);
	report::OpenFolder open = report::made_folder;
	if (user.stays_root && !reader.stays_root && !reading.output.empty())
		open = [folder = std::make_shared<RootsFolder>(reading.output)](const auto &) { return folder; };
	privilege::become(reader);
	return open;
}

} // namespace icepath::cli
