// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/attach/command.h"
#include "profiler/attach/targets.h"
#include "profiler/attach/watched_run.h"
#include "profiler/cli/commands.h"
#include "profiler/cli/live_view.h"
#include "profiler/cli/output.h"
#include "profiler/cli/signals.h"
#include "profiler/failure.h"
#include "profiler/machine/host.h"
#include "profiler/model/printable.h"
#include "profiler/privilege/identity.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/report/report.h"
#include "profiler/run/run_folder.h"
#include "profiler/run/session.h"

namespace icepath::cli {
namespace {

// `command`: the process that becomes the command, which comes first; 0: there is none.
std::vector<pid_t> processes_to_watch(const AttachOptions &options, pid_t command)
{
	std::vector<pid_t> processes;
	if (command != 0)
		processes.push_back(command);
	const std::vector<pid_t> running =
		options.name.empty() ? options.processes : attach::processes_named(options.name, command);
	processes.insert(processes.end(), running.begin(), running.end());
	return processes;
}

std::string name_after_exec(const std::string &program)
{
	constexpr size_t kLongest = 15; // of comm, proc(5)
	return model::printable(std::filesystem::path(program).filename().string().substr(0, kLongest));
}

} // namespace

ExitCode attach(const AttachOptions &options, const std::string &command_line, const Style &style)
{
	handle_signals();
	if (options.live)
		check_live_terminal();
	const privilege::Identity user = privilege::invoking_user();
	if (!user.was_root)
		throw Failure(ExitCode::MachineCannot, "watching running programs needs root: run `sudo icepath attach`");
	// Programs are named while icepath is still root: the helper takes none from its user.
	std::optional<attach::Command> command; // first: it has no descriptor of what follows
	if (!options.command.empty())
		command.emplace(options.command, user);
	std::vector<attach::OpenTarget> targets =
		attach::open_targets(processes_to_watch(options, command ? command->pid() : 0));
	if (command) // which isn't its program yet
		targets.front().target.name = name_after_exec(options.command.front());
	privilege::Helper helper(user);
	for (const attach::OpenTarget &target : targets)
		(void)helper.take_target(target.pidfd.get());
	privilege::become(user);

	attach::Wishes wishes;
	const bool by_default = options.output.empty();
	wishes.directory = by_default ? default_directory("attach") : options.output;
	wishes.duration_s = options.duration_s;
	wishes.ends_with_first = command.has_value();
	run::check_run_folder(wishes.directory, by_default);
	const bool makes_results = by_default && !std::filesystem::exists(kResults);
	model::Head head = head_of(command_line, machine::describe_host(user));
	head.attached.emplace();
	for (const attach::OpenTarget &target : targets)
		head.attached->targets.push_back(target.target);
	name_kept_run(wishes.directory);
	std::optional<LiveView> view;
	if (options.live) {
		view.emplace(head, style);
		wishes.watched = [&view](model::Window window, std::vector<model::Connection> connections) {
			view->add(std::move(window), std::move(connections));
		};
	}
	const attach::Outcome outcome = attach::watch(targets, head, wishes, helper, [&command] {
		if (command)
			command->start();
		return run::is_interrupted();
	});
	view.reset();
	if (command)
		command->reap();
	for (const std::string &notice : outcome.notices)
		complain(fmt::format("icepath: {}\n", notice));
	if (!options.quiet)
		complain(fmt::format("icepath: {} records of {} windows\n", outcome.records, outcome.windows));
	const report::Report report =
		report::report_and_write(wishes.directory, {style.colour, style.unicode, style.width});
	print(report.text);
	print(fmt::format("report: icepath report {}   data: {}/run.json\n", wishes.directory, wishes.directory));
	if (makes_results)
		complain(fmt::format("icepath: made the folder {} here\n", kResults));
	return ExitCode::Ok;
}

} // namespace icepath::cli
