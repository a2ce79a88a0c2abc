// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cpuset/affinity.h"
#include "cpuset/choose.h"
#include "cpuset/fifo.h"
#include "cpuset/isolation.h"
#include "cpuset/soft.h"
#include "cpuset/topology.h"
#include "profiler/analysis/named_cells.h"
#include "profiler/calibrate/calibration.h"
#include "profiler/capture/thread_pidfd.h"
#include "profiler/cli/commands.h"
#include "profiler/cli/output.h"
#include "profiler/cli/rehearsal.h"
#include "profiler/cli/signals.h"
#include "profiler/gate/judge.h"
#include "profiler/isolation/journal.h"
#include "profiler/isolation/keeper.h"
#include "profiler/machine/host.h"
#include "profiler/noise/cpu_noise.h"
#include "profiler/plan/plan_of_arms.h"
#include "profiler/privilege/ipc_namespace.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/report/report.h"
#include "profiler/run/arms.h"
#include "profiler/run/budget.h"
#include "profiler/run/describe.h"
#include "profiler/run/descriptor_limit.h"
#include "profiler/run/live_cell.h"
#include "profiler/run/run_folder.h"
#include "profiler/run/session.h"
#include "profiler/run/worker_process.h"
#include "profiler/stats/block_interval.h"
#include "profiler/targets/plugin_files.h"

namespace icepath::cli {
namespace {

cpuset::Choice choose_cpus(const RunOptions &options, const cpuset::Machine &machine)
{
	cpuset::Choice choice =
		options.cpus.empty() ? cpuset::choose_pair(machine) : cpuset::given_cpus(machine, options.cpus);
	if (options.daemon_cpus.empty())
		return choice;
	choice.daemons = cpuset::given_daemon_cpus(machine, options.daemon_cpus);
	for (const uint32_t cpu : cpuset::measuring_cpus(choice))
		if (options.isolate == cpuset::Level::Full && cpuset::contains(choice.daemons, cpu))
			throw Failure(ExitCode::Usage,
						  fmt::format("--daemon-cpus {}: under --isolate full, CPU {} is for the sides alone: "
									  "give others",
									  options.daemon_cpus, cpu));
	return choice;
}

// Reports an adapter that wasn't built as such, instead of as unknown.
void check_built(const std::vector<std::string> &wanted, const std::vector<targets::Target> &targets)
{
	for (const targets::NotBuilt &adapter : targets::adapters_not_built())
		for (const std::string &name : wanted)
			if ((name == adapter.name || name.starts_with(adapter.name + "/")) &&
				std::ranges::none_of(targets, [&](const targets::Target &target) {
					// Another folder of plug-ins may have it.
					return target.name == name || target.name.starts_with(name + "/");
				}))
				throw Failure(ExitCode::Usage, fmt::format("{} {}", name, targets::why_not_built(adapter)));
}

// The targets that an arm has, or a run without arms (nullptr), and what is to be said of them.
struct Described {
	const model::Arm *arm = nullptr;
	std::vector<targets::Target> targets;
	std::vector<std::string> notices;
};

// A failure of an arm names it.
template <typename Does> auto of_arm(const model::Arm *arm, Does does)
{
	try {
		return does();
	} catch (const Failure &failure) {
		const std::string of = arm ? fmt::format("--arm {}: ", arm->name) : "", why = failure.what();
		throw Failure(failure.code(), why.starts_with(of) ? why : of + why);
	}
}

Described describe(const RunOptions &options, const model::Arm *arm)
{
	Described described{arm, {}, {}};
	described.targets = arm ? run::describe_targets(*arm, described.notices) : run::describe_targets(described.notices);
	if (!arm || arm->plugins.empty())
		check_built(options.wishes.targets, described.targets);
	return described;
}

// Of all arms, if there are any.
plan::Plan plan_of_all(const plan::Wishes &wishes, const std::vector<Described> &all, const std::vector<uint32_t> &cpus,
					   const std::vector<model::Arm> &arms)
{
	std::vector<plan::Plan> plans;
	for (const Described &one : all) {
		plan::Wishes of_one = wishes;
		of_one.not_loaded = one.notices;
		plans.push_back(of_arm(one.arm, [&] { return plan::make(of_one, one.targets, cpus); }));
		plans.back().notices.insert(plans.back().notices.begin(), one.notices.begin(), one.notices.end());
	}
	if (arms.empty())
		return plans.front();
	plan::Plan plan = plan::beside_each_other(arms, plans);
	run::check_configs(arms, plan);
	return plan;
}

// By default sparse is measured only if there is time for the blocks that an interval needs: each takes seconds.
plan::Plan make_plan(const RunOptions &options, plan::Wishes wishes, const std::vector<Described> &all,
					 const std::vector<uint32_t> &cpus, const std::vector<model::Arm> &arms)
{
	if (!wishes.patterns.empty())
		return plan_of_all(wishes, all, cpus, arms);
	wishes.patterns = {model::Pattern::PingPong, model::Pattern::OneWay, model::Pattern::Sparse};
	wishes.one_of_each_kind = wishes.targets.empty();
	plan::Plan usual = plan_of_all(wishes, all, cpus, arms);
	const double needed_s = run::needed_s(usual.cells, options.messages, stats::kMinBlocks);
	if (needed_s <= options.duration_s)
		return usual;
	wishes.patterns.pop_back();
	plan::Plan shorter = plan_of_all(wishes, all, cpus, arms);
	shorter.notices.push_back(
		fmt::format("sparse messages are left out: with them a run takes {:.0f} s (-d)", std::ceil(needed_s)));
	return shorter;
}

// `arms`: found, as the user.
plan::Plan plan_of(const RunOptions &options, const std::vector<uint32_t> &cpus, const model::Host &host,
				   bool kept_awake, const std::vector<model::Arm> &arms)
{
	plan::Wishes wishes = options.wishes;
	wishes.kept_awake = kept_awake;
	wishes.no_threads = capture::thread_pidfds_missing();
	std::vector<Described> all;
	for (const model::Arm &arm : arms)
		all.push_back(of_arm(&arm, [&] { return describe(options, &arm); }));
	if (arms.empty())
		all.push_back(describe(options, nullptr));
	plan::Plan plan = make_plan(options, wishes, all, cpus, arms);
	if (!options.calibration.empty() &&
		calibrate::tell_cells(calibrate::read_calibration(options.calibration, calibrate::host_of(host)), plan.cells) ==
			0)
		plan.notices.push_back(fmt::format("{} has nothing about these cells", options.calibration));
	return plan;
}

cpuset::Step pinned_library_threads(const RunOptions &options)
{
	if (options.frees_library_threads)
		return {"library_threads", cpuset::StepState::Left, "on any CPU, as asked for", ""};
	return {"library_threads", cpuset::StepState::Done, "have the CPU of their side, where that sleeps", ""};
}

run::SessionOptions session_of(const RunOptions &options, uint64_t started_ns)
{
	run::SessionOptions session;
	session.directory = options.output.empty() ? default_directory(options.name) : options.output;
	session.budget_s = options.duration_s;
	session.started_ns = started_ns;
	session.messages = options.messages;
	session.forced_tier = options.tier;
	session.samples = options.stacks;
	return session;
}

ExitCode exit_code_of(const run::SessionResult &result, const plan::Plan &plan, bool strict,
					  std::vector<std::string> flaws)
{
	if (result.interrupted)
		return ExitCode::Interrupted;
	if (!result.broken_off.empty()) {
		complain(fmt::format("icepath: {}\n", result.broken_off));
		return ExitCode::MachineCannot;
	}
	if (!result.has_data) {
		complain("icepath: nothing could be measured: the notices say why\n");
		return ExitCode::Invalid;
	}
	if (flaws.empty() && result.failed_cells > 0)
		flaws.push_back("a cell failed");
	for (const std::string &target : plan.missing)
		flaws.push_back(fmt::format("{} doesn't work here", target));
	if (!strict || flaws.empty())
		return ExitCode::Ok;
	complain(fmt::format("icepath: --strict: {}\n", fmt::join(flaws, "; ")));
	return ExitCode::Invalid;
}

// A target that was asked for and doesn't work here is in no cell, and so no gate sees it.
ExitCode with_missing(ExitCode of_gates, const plan::Plan &plan, const std::vector<gate::Gate> &gates)
{
	if (plan.missing.empty())
		return of_gates;
	const auto is_meant = [&](const std::string &target) { // a key begins with its target and a space
		return std::ranges::any_of(gates, [&](const gate::Gate &gate) {
			return std::ranges::any_of(gate.cells, [&](const std::string &pattern) {
				for (size_t end = 1; end <= pattern.size(); ++end)
					if (gate::matches(pattern.substr(0, end), target + " "))
						return true;
				return false;
			});
		});
	};
	complain(fmt::format("icepath: what gates say of {} isn't known: it doesn't work here\n",
						 fmt::join(plan.missing, ", ")));
	if (std::ranges::any_of(plan.missing, is_meant))
		return ExitCode::Usage;
	return of_gates == ExitCode::Ok ? ExitCode::Invalid : of_gates;
}

// Returns sentences about what an earlier run has left. Throws Failure if `must` and the machine can't be restored.
std::vector<std::string> put_back_leftovers(isolation::Keeper &keeper, bool must)
{
	std::vector<std::string> sentences;
	try {
		sentences = keeper.put_back_leftovers();
	} catch (const Failure &failure) {
		if (must)
			throw;
		sentences.emplace_back(failure.what());
	}
	for (std::string &sentence : sentences)
		sentence.insert(0, "of an earlier run: ");
	return sentences;
}

// Refuses what a user without root may not do to the machine, or to others on its CPUs.
void refuse_what_takes_root(const RunOptions &options)
{
	const char *what = nullptr;
	if (options.isolate == cpuset::Level::Full)
		what = "--isolate full";
	else if (!options.tunings.empty())
		what = "--tune";
	else if (std::ranges::max(options.wishes.levels[&model::Levels::fifo_priority]) > 0)
		what = "--sched fifo";
	if (what)
		throw Failure(ExitCode::MachineCannot, fmt::format("{} needs root: run `sudo icepath run`", what));
}

// What a run has of root's rights: taken first, after which icepath goes on as its user for good.
struct Rights {
	explicit Rights(const RunOptions &options)
		: isolates_fully(options.isolate == cpuset::Level::Full),
		  is_tuned(std::ranges::any_of(options.tunings, isolation::is_of_the_machine))
	{
		if (why_not_without_root.empty()) {
			if (!user.was_root)
				refuse_what_takes_root(options);
			helper.emplace(user);
		}
		if (user.was_root && (needs_keeper || isolation::journal_is_left(isolation::Tree{""})))
			keeper.emplace(user);
		soft.emplace(options.isolate, options.idle_states, user.stays_root);
		if (const uint64_t priority = std::ranges::max(options.wishes.levels[&model::Levels::fifo_priority]);
			priority > 0 && user.was_root)
			cpuset::allow_fifo(static_cast<int>(priority), user.stays_root);
		if (user.was_root)
			fifo = cpuset::fifo_rights(user.stays_root);
		if (helper)
			no_own_queues = privilege::enter_own_ipc_namespace();
		if (user.was_root)
			of_queues = isolation::tune_ipc_namespace(options.tunings, !no_own_queues.has_value());
		if (user.was_root)
			for (size_t i = 0; i < std::max<size_t>(1, options.arms.size()); i++)
				root_spaces.push_back(
					std::make_unique<privilege::RootSpace>(user, run::worker_program(), run::restore_descriptor_limit));
		privilege::become(user);
	}

	const privilege::Identity user = privilege::invoking_user();
	const std::string why_not_without_root = user.was_root ? "" : privilege::why_not_without_root();
	const bool isolates_fully, is_tuned;
	const bool needs_keeper = isolates_fully || is_tuned;
	std::optional<privilege::Helper> helper; // starts before any other use of root's rights
	std::optional<isolation::Keeper> keeper;
	std::optional<cpuset::Soft> soft;
	cpuset::FifoRights fifo;
	std::optional<std::string> no_own_queues; // why System V's and POSIX's queues aren't the run's own
	std::vector<cpuset::Step> of_queues;
	std::vector<std::unique_ptr<privilege::RootSpace>> root_spaces; // one for each arm
};

// The machine's settings first: plug-ins tell by them what they can carry. Adds to `steps` what was done.
plan::Plan tune_and_plan(const RunOptions &options, Rights &rights, const cpuset::Machine &machine,
						 const std::vector<uint32_t> &cpus, const model::Head &head, std::vector<cpuset::Step> &steps)
{
	std::vector<std::string> leftovers;
	if (rights.keeper)
		leftovers = put_back_leftovers(*rights.keeper, rights.needs_keeper);
	if (rights.keeper && rights.is_tuned)
		std::ranges::move(rights.keeper->tune(options.tunings), std::back_inserter(steps));
	plan::Plan plan = plan_of(options, cpus, head.host, rights.soft->awake() != nullptr, head.arms);
	if (std::ranges::any_of(plan.cells, [](const model::Cell &cell) {
			return cell.levels.fifo_priority != 0 && model::never_sleeps(cell.wait);
		}))
		if (const auto pauses = cpuset::fifo_without_sleep(machine, cpus))
			plan.notices.push_back(*pauses);
	if (std::ranges::any_of(plan.cells, run::may_pin_library_threads))
		steps.push_back(pinned_library_threads(options));
	run::check_budget(options.duration_s, plan.cells, options.messages);
	if (std::ranges::none_of(plan.cells, [](const model::Cell &cell) { return cell.kind == model::kAdapter; }))
		rights.root_spaces.clear(); // only middleware needs it
	std::ranges::move(leftovers, std::back_inserter(plan.notices));
	return plan;
}

// Takes the CPUs for the run: from other runs, and by `--isolate full` from other tasks. Returns these CPUs' noise
// before that. Adds to `steps` and `notices` what was done, and what couldn't be.
std::vector<model::CpuNoise> take_cpus(Rights &rights, const cpuset::Choice &cpus, std::vector<cpuset::Step> &steps,
									   std::vector<std::string> &notices)
{
	const std::vector<uint32_t> measuring = cpuset::measuring_cpus(cpus);
	if (!rights.helper)
		throw Failure(
			ExitCode::MachineCannot,
			fmt::format("tracing needs root: run `sudo icepath run` (without root: {})", rights.why_not_without_root));
	run::stop_if_interrupted();
	if (const auto unclaimed = rights.helper->claim(measuring))
		notices.push_back(*unclaimed);
	std::vector<model::CpuNoise> noise_before;
	if (rights.isolates_fully) {
		constexpr uint64_t kNoiseNs = 200'000'000;
		noise_before = noise::measure(measuring, kNoiseNs, nullptr, {});
	}
	if (rights.needs_keeper)
		std::ranges::move(rights.keeper->isolate(rights.isolates_fully ? measuring : cpuset::CpuList()),
						  std::back_inserter(steps));
	else
		rights.keeper.reset();
	if (rights.no_own_queues)
		notices.push_back(*rights.no_own_queues);
	if (const auto problem = cpuset::confine_process(cpus.housekeeping))
		notices.push_back(*problem);
	return noise_before;
}

void add_rights(run::SessionOptions &session, Rights &rights, const cpuset::Choice &cpus, const RunOptions &options)
{
	for (const auto &space : rights.root_spaces)
		session.root_spaces.push_back(space.get());
	session.awake = rights.soft->awake();
	session.locks_memory = rights.soft->locks_memory();
	session.pins_library_threads = !options.frees_library_threads;
	session.daemon_cpus = cpus.daemons;
	session.keeper = rights.keeper ? &*rights.keeper : nullptr;
}

// Returns false if the keeper was lost, so that the machine may not be as it was.
bool give_back(Rights &rights)
{
	rights.helper.reset();
	if (!rights.keeper)
		return true;
	for (const std::string &left : rights.keeper->put_back())
		complain(fmt::format("icepath: {}\n", left));
	const bool is_lost = rights.keeper->is_lost();
	rights.keeper.reset();
	return !is_lost;
}

} // namespace

std::string default_directory(const std::string &name)
{
	return fmt::format("{}/{:%Y-%m-%dT%H%M%S}-{}", kResults, fmt::localtime(std::time(nullptr)), name);
}

model::Head head_of(const std::string &command_line, const model::Host &host)
{
	model::Head head;
	head.icepath_version = ICEPATH_VERSION;
	head.command_line = command_line;
	head.started_utc = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
	head.host = host;
	return head;
}

ExitCode run(const RunOptions &options, const std::string &command_line, uint64_t started_ns, const Style &style)
{
	handle_signals();
	Rights rights(options);

	const std::vector<gate::Gate> gates = gates_of(options.gates); // by the user
	const cpuset::Machine machine = cpuset::read_machine(cpuset::read_permission());
	const cpuset::Choice cpus = choose_cpus(options, machine);
	run::SessionOptions session = session_of(options, started_ns);
	const bool by_default = options.output.empty();
	run::check_run_folder(session.directory, by_default);
	const bool makes_results = by_default && !std::filesystem::exists(kResults);
	model::Head head = head_of(command_line, machine::describe_host(rights.user));
	head.host.fifo = rights.fifo.sides;
	head.host.fifo_of_middleware = rights.fifo.middleware;
	std::ranges::transform(options.arms, std::back_inserter(head.arms), run::found);
	std::vector<cpuset::Step> steps = rights.soft->steps();
	std::ranges::copy(rights.of_queues, std::back_inserter(steps));
	plan::Plan plan = tune_and_plan(options, rights, machine, cpuset::measuring_cpus(cpus), head, steps);
	gate::check_gates(gates, gate::gated_cells(plan.cells, head.arms));
	head.noise_before = take_cpus(rights, cpus, steps, plan.notices);
	const cpuset::Machine isolated = rights.isolates_fully ? cpuset::read_machine(cpuset::read_permission()) : machine;
	head.isolation =
		machine::describe_isolation(cpuset::look_at_isolation(isolated, cpus, rights.soft->level(), steps));

	add_rights(session, rights, cpus, options);
	session.rehearse_report = [&session] {
		return rehearse_report("/proc/self/exe", session.directory, run::is_interrupted);
	};
	name_kept_run(session.directory);
	run::SessionResult result;
	{
		ProgressLine line(style.line_control);
		result = run::run_session(plan, std::move(head), session, *rights.helper, [&](const run::Progress &progress) {
			if (!options.quiet)
				line.show(progress);
		});
	}
	const bool is_as_it_was = give_back(rights); // nothing below needs root
	report::Report report =
		report::report_and_write(session.directory, {style.colour, style.unicode, style.width}, gates);
	print(report.text);
	print(fmt::format("report: icepath report {}   data: {}/run.json\n", session.directory, session.directory));
	if (makes_results)
		complain(fmt::format("icepath: made the folder {} here\n", kResults));
	const ExitCode code = exit_code_of(result, plan, options.strict, std::move(report.flaws));
	if (code != ExitCode::Ok || !is_as_it_was)
		return code == ExitCode::Ok ? ExitCode::MachineCannot : code;
	return gates.empty() ? code : with_missing(report.of_gates, plan, gates);
}

} // namespace icepath::cli
