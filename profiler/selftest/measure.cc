// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "profiler/plan/plan.h"
#include "profiler/run/budget.h"
#include "profiler/run/describe.h"
#include "profiler/run/worker_process.h"
#include "profiler/rundir/container.h"
#include "profiler/selftest/plugin/fixed_work.h"
#include "profiler/selftest/plugin/stretch.h"
#include "profiler/targets/plugin_files.h"

namespace icepath::selftest {
namespace {

constexpr uint32_t kMessages = run::kUsefulMessages; // most counted in a block: more blocks help more than longer ones
constexpr uint64_t kWorkNs = 1'000'000; // for a sender with fixed work

// One cell of an injection, without or with it. `awake`: CPUs are kept awake, except for an injection about idling.
void add_cell(const Injection &injection, bool with, bool awake, const std::vector<targets::Target> &targets,
			  const std::vector<uint32_t> &cpus, plan::Plan &plan)
{
	plan::Wishes wishes;
	const bool differs = !with && injection.traffic.target_without;
	wishes.targets = {differs ? injection.traffic.target_without : injection.traffic.target};
	wishes.sizes = {64};
	wishes.patterns = {injection.traffic.burst ? model::Pattern::Burst : model::Pattern::OneWay};
	wishes.rate_hz = injection.traffic.rate_hz / static_cast<double>(stretched(1));
	if (injection.traffic.burst) {
		wishes.levels[&model::Levels::demand] = {injection.traffic.burst->demand};
		wishes.levels[&model::Levels::recovery_ns] = {stretched(injection.traffic.burst->recovery_ns)};
	}
	const plan::Plan one = plan::make(wishes, targets, cpus);
	plan.cells.push_back(one.cells.at(0));
	if (awake && !(with && injection.name == std::string_view(kDeepIdle)))
		plan.cells.back().idle_states = model::IdleStates::Held;
	const Delays &delays = with ? injection.with : injection.without;
	model::Levels &levels = plan.cells.back().levels;
	levels.sender_user_ns = stretched(delays.sender_user_ns);
	levels.receiver_busy_ns = stretched(delays.receiver_busy_ns);
	plan.plugin_of_cell.push_back(one.plugin_of_cell.at(0));
}

// Why it can't be injected here; empty: it can.
std::string why_not(const Injection &injection, const std::vector<targets::Target> &targets,
					const std::vector<uint32_t> &cpus, InjectorProcess &injector)
{
	const auto target = std::ranges::find(targets, injection.traffic.target, &targets::Target::name);
	if (target == targets.end())
		return fmt::format("there is no {} here: is icepath fully installed?", injection.traffic.target);
	if (!target->why_not.empty())
		return target->why_not;
	return injection.from_outside ? injector.try_it(injection.name, cpus) : "";
}

std::string make_stamps_folder(const std::string &workspace)
{
	const std::filesystem::path folder = std::filesystem::path(workspace) / kStampsFolder;
	std::filesystem::create_directory(folder);
	return folder;
}

std::vector<targets::Target> targets_of(std::vector<std::string> &notices)
{
	std::vector<targets::Target> targets = run::describe_targets(notices);
	std::vector<std::string> own;
	for (const std::string &folder : targets::plugin_folders())
		for (const char *plugin : {"icepath-selftest.so", "icepath-selftest-network.so", "icepath-selftest-relay.so",
								   "icepath-selftest-queue.so"})
			own.push_back(folder + "/selftest/" + plugin);
	for (targets::Target &target : run::describe_plugins(own, notices))
		targets.push_back(std::move(target));
	return targets;
}

// Why its messages' paths would be unknown here; empty: known.
std::string missing_probe(const Injection &injection, const capture::Selection &probes)
{
	if (!*injection.needs_probe)
		return {};
	const capture::Trial &trial = probes.at(capture::number_of(injection.needs_probe));
	return trial.works ? std::string()
					   : fmt::format("no path can be found without {}: {}", injection.needs_probe, trial.why_not);
}

// What can be injected here.
struct Possible {
	std::vector<const Injection *> injections;
	std::vector<std::string> why_not; // of all that were asked for; empty: it can be
	plan::Plan plan; // two cells for each injection, without it and with it
};

Possible look_at(const MeasureOptions &options, InjectorProcess &injector, std::vector<std::string> &notices)
{
	const std::vector<targets::Target> targets = targets_of(notices);
	Possible possible;
	for (const Injection *injection : options.injections) {
		possible.why_not.push_back(why_not(*injection, targets, options.cpus, injector));
		if (!possible.why_not.back().empty())
			continue;
		possible.injections.push_back(injection);
		for (const bool with : {false, true})
			add_cell(*injection, with, injector.why_not_awake().empty(), targets, options.cpus, possible.plan);
	}
	return possible;
}

run::SessionResult run_with_injections(const MeasureOptions &options, const Possible &possible, const model::Head &head,
									   privilege::Helper &helper, InjectorProcess &injector,
									   const std::function<void(const run::Progress &)> &report)
{
	run::check_budget(options.duration_s, possible.plan.cells, kMessages);
	run::SessionOptions session;
	session.directory = options.directory;
	session.budget_s = options.duration_s;
	session.started_ns = options.started_ns;
	session.messages = kMessages;
	session.forced_tier = options.tier;
	session.always_probed = true;
	session.begin_injection = [&](size_t cell, const std::vector<uint32_t> &tids) {
		const Injection &injection = *possible.injections[cell / 2];
		const bool puts_in = injection.from_outside && cell % 2 == 1;
		injector.begin(puts_in ? injection.name : "", injection.traffic, model::cpus_by_side(possible.plan.cells[cell]),
					   tids);
	};
	session.end_injection = [&] { injector.end(); };
	return run::run_session(possible.plan, head, session, helper, report);
}

void add_notices_of(const std::string &run, std::vector<std::string> &notices)
{
	rundir::Reader reader(run);
	while (reader.next()) {
	}
	if (reader.tail())
		notices.insert(notices.end(), reader.tail()->notices.begin(), reader.tail()->notices.end());
}

// `pairs`: of each possible injection.
std::vector<Row> matrix_of(const MeasureOptions &options, const Possible &possible, const capture::Selection &probes,
						   const std::vector<std::vector<BlockPair>> &pairs)
{
	std::vector<Row> matrix;
	auto its_pairs = pairs.begin();
	for (size_t i = 0; i < options.injections.size(); i++) {
		const Injection &injection = *options.injections[i];
		if (!possible.why_not[i].empty()) {
			matrix.push_back(not_injected(injection, possible.why_not[i]));
			continue;
		}
		const std::string missing = missing_probe(injection, probes);
		matrix.push_back(missing.empty() ? row_of(injection, *its_pairs) : not_judged(injection, missing));
		++its_pairs;
	}
	return matrix;
}

} // namespace

Measured measure(const MeasureOptions &options, const model::Head &head, privilege::Helper &helper,
				 InjectorProcess &injector, const std::function<void(const run::Progress &)> &report)
{
	Measured measured;
	const std::string stamps = make_stamps_folder(options.workspace);
	setenv(kStampsVariable, stamps.c_str(), 1);
	setenv(kWorkVariable, std::to_string(rounds_of_work(stretched(kWorkNs))).c_str(), 1); // workers inherit it
	const Possible possible = look_at(options, injector, measured.notices);
	if (possible.injections.empty()) {
		measured.matrix = matrix_of(options, possible, {}, {});
		return measured;
	}
	const run::SessionResult result = run_with_injections(options, possible, head, helper, injector, report);
	measured.interrupted = result.interrupted;
	std::filesystem::copy(stamps, std::filesystem::path(options.directory) / kStampsFolder);
	measured.matrix = matrix_of(options, possible, result.probes, read_pairs(options.directory, possible.injections));
	add_notices_of(options.directory, measured.notices);
	return measured;
}

} // namespace icepath::selftest
