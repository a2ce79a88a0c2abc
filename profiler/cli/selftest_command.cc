// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cpuset/affinity.h"
#include "cpuset/choose.h"
#include "cpuset/isolation.h"
#include "cpuset/topology.h"
#include "profiler/cli/commands.h"
#include "profiler/cli/output.h"
#include "profiler/cli/signals.h"
#include "profiler/exports/written_file.h"
#include "profiler/machine/host.h"
#include "profiler/privilege/ipc_namespace.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/run/run_folder.h"
#include "profiler/selftest/matrix_text.h"
#include "profiler/selftest/measure.h"
#include "profiler/selftest/plugin/stretch.h"
#include "profiler/selftest/workspace.h"

namespace icepath::cli {
namespace {

void print_result(const selftest::Measured &measured, const model::Head &head, const SelftestOptions &options)
{
	print(selftest::text_of(measured.matrix));
	if (options.stretch != 1)
		print(fmt::format("\nAll delays were {0} times longer than listed, and messages {0} times rarer (--stretch).\n",
						  options.stretch));
	for (const std::string &notice : measured.notices)
		print("notice: " + notice + "\n");
	if (options.json.empty())
		return;
	exports::WrittenFile file(options.json);
	file.add(
		selftest::json_of(measured.matrix, {head.icepath_version, head.started_utc, head.host,
											options.tier ? capture::kTierNames[static_cast<size_t>(*options.tier)] : "",
											options.stretch, measured.notices}));
	file.done();
}

} // namespace

ExitCode selftest(const SelftestOptions &options, const std::string &command_line, uint64_t started_ns,
				  const Style &style)
{
	const std::vector<const selftest::Injection *> injections = selftest::injections_named(options.only);
	handle_signals();
	const privilege::Identity user = privilege::invoking_user();
	if (!user.was_root)
		throw Failure(ExitCode::MachineCannot, "tracing and injecting need root: run `sudo icepath selftest`");
	setenv(selftest::kStretchVariable, std::to_string(options.stretch).c_str(), 1);
	// Starts both before any other use of root's rights, which icepath then gives up.
	privilege::Helper helper(user);
	selftest::InjectorProcess injector(user);
	const auto shared_ipc = privilege::enter_own_ipc_namespace();
	privilege::become(user);

	const cpuset::Machine machine = cpuset::read_machine(cpuset::read_permission());
	const cpuset::Choice cpus =
		options.cpus.empty() ? cpuset::choose_pair(machine) : cpuset::given_cpus(machine, options.cpus);
	if (!options.output.empty())
		run::check_run_folder(options.output);
	if (!options.json.empty())
		exports::WrittenFile::check(options.json);
	const selftest::Workspace workspace;
	const auto unclaimed = helper.claim(cpuset::measuring_cpus(cpus));
	selftest::MeasureOptions measure;
	measure.injections = injections;
	measure.cpus = cpuset::measuring_cpus(cpus);
	measure.directory = options.output.empty() ? workspace.path() + "/run" : options.output;
	measure.workspace = workspace.path();
	measure.duration_s = options.duration_s;
	measure.started_ns = started_ns;
	measure.tier = options.tier;
	model::Head head = head_of(command_line, machine::describe_host(user));
	head.isolation = machine::describe_isolation(cpuset::look_at_isolation(machine, cpus));
	if (!options.output.empty())
		name_kept_run(options.output);
	const auto confined = cpuset::confine_process(cpus.housekeeping);

	selftest::Measured measured;
	{
		ProgressLine line(style.line_control);
		measured = selftest::measure(measure, head, helper, injector, [&](const run::Progress &progress) {
			if (!options.quiet)
				line.show(progress);
		});
	}
	if (const std::string lost = injector.finish(); !lost.empty())
		measured.notices.push_back(lost);
	for (const auto &problem : {shared_ipc, confined, unclaimed})
		if (problem)
			measured.notices.push_back(*problem);
	if (!injector.why_not_awake().empty())
		measured.notices.push_back("CPUs can't be kept from idling deeply, so waking varies more: " +
								   injector.why_not_awake());
	print_result(measured, head, options);
	return measured.interrupted ? ExitCode::Interrupted : selftest::exit_code(measured.matrix);
}

} // namespace icepath::cli
