// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "cpuset/affinity.h"
#include "cpuset/choose.h"
#include "cpuset/soft.h"
#include "cpuset/topology.h"
#include "profiler/capture/untraced_interrupts.h"
#include "profiler/cli/commands.h"
#include "profiler/cli/output.h"
#include "profiler/cli/signals.h"
#include "profiler/doctor/doctor.h"
#include "profiler/doctor/fit_for.h"
#include "profiler/doctor/summary.h"
#include "profiler/isolation/journalled_changes.h"
#include "profiler/isolation/keeper.h"
#include "profiler/machine/cache_line.h"
#include "profiler/machine/wakes.h"
#include "profiler/noise/cpu_noise.h"
#include "profiler/privilege/cpu_claim.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/run/session.h"
#include "profiler/rundir/head_json.h"
#include "profiler/rundir/json_text.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/columns.h"
#include "profiler/text/noise_lines.h"

namespace icepath::cli {
namespace {

ExitCode restore()
{
	if (geteuid() != 0)
		throw Failure(ExitCode::MachineCannot,
					  "only root can restore the machine: run `sudo icepath doctor --restore`");
	const isolation::Tree machine{""};
	const bool is_left = isolation::journal_has_changes(machine);
	for (const std::string &sentence : isolation::put_back_leftovers(machine))
		print(sentence + "\n");
	if (isolation::journal_is_left(machine))
		return ExitCode::MachineCannot;
	print(is_left ? "the changes of a killed run are undone\n" : "no killed run has left changes\n");
	return ExitCode::Ok;
}

constexpr uint32_t kRecordsPerSlot = 1u << 16;

// What was seen of the CPUs at one level of isolation.
struct Seen {
	std::string level;
	std::vector<cpuset::Step> steps; // of isolating
	std::vector<model::CpuNoise> noise;
	std::vector<model::CpuWake> wakes,
		wakes_held; // from deep and from shallow idle; held: nothing if CPUs can't be kept awake
	std::vector<model::InterruptCount> interrupts;
	std::optional<model::Steal> steal;
};

class NoiseOf {
public:
	NoiseOf(std::vector<uint32_t> cpus, uint64_t duration_ns, const noise::Capture &capture, cpuset::Soft &soft)
		: cpus_(std::move(cpus)), duration_ns_(duration_ns), capture_(capture), soft_(soft)
	{}

	// `keeper`: the one that has isolated the CPUs.
	Seen look(const std::string &level, isolation::Keeper *keeper)
	{
		const auto admit = [&](int pidfd) {
			if (keeper)
				keeper->admit(pidfd);
		};
		Seen seen;
		seen.level = level;
		seen.wakes = machine::measure_wakes(cpus_, admit);
		if (cpuset::KeptAwake *awake = soft_.awake(); awake && !awake->hold()) {
			seen.wakes_held = machine::measure_wakes(cpus_, admit);
			(void)awake->let_go();
		}
		const auto interrupts = capture::all_interrupts(cpus_);
		const auto steal_ns = machine::steal_ns(cpus_);
		seen.noise = noise::measure(cpus_, duration_ns_, &capture_, admit, run::is_interrupted);
		const auto then_ns = machine::steal_ns(cpus_);
		if (steal_ns && then_ns)
			seen.steal = model::Steal{*then_ns - std::min(*then_ns, *steal_ns), duration_ns_ * cpus_.size()};
		seen.interrupts = capture::counted_since(interrupts, capture::all_interrupts(cpus_));
		return seen;
	}

private:
	const std::vector<uint32_t> cpus_;
	const uint64_t duration_ns_;
	const noise::Capture &capture_;
	cpuset::Soft &soft_;
};

nlohmann::ordered_json wakes_json(const std::vector<model::CpuWake> &wakes)
{
	nlohmann::ordered_json json = nlohmann::ordered_json::array();
	for (const model::CpuWake &wake : wakes)
		json.push_back({{"cpu", wake.cpu}, {"p50_ns", wake.p50_ns}, {"p90_ns", wake.p90_ns}});
	return json;
}

std::string json_of(const std::vector<Seen> &all)
{
	nlohmann::ordered_json levels = nlohmann::ordered_json::array();
	for (const Seen &seen : all) {
		nlohmann::ordered_json interrupts = nlohmann::ordered_json::array();
		for (const model::InterruptCount &row : seen.interrupts)
			interrupts.push_back({{"label", row.label}, {"name", row.name}, {"count", row.count}});
		nlohmann::ordered_json steps = nlohmann::ordered_json::array();
		for (const cpuset::Step &step : seen.steps)
			steps.push_back({{"name", step.name},
							 {"state", cpuset::kStepStateNames[static_cast<size_t>(step.state)]},
							 {"found", step.found}});
		levels.push_back({{"isolation", seen.level},
						  {"steps", steps},
						  {"noise", rundir::to_json(seen.noise)},
						  {"wake_ns", wakes_json(seen.wakes)},
						  {"wake_held_ns", wakes_json(seen.wakes_held)},
						  {"interrupts", interrupts},
						  {"steal_ns", seen.steal ? nlohmann::ordered_json(seen.steal->ns) : nullptr}});
	}
	return rundir::json_text({{"schema_version", 1}, {"levels", levels}}) + "\n";
}

std::string text_of(const std::vector<Seen> &all, const Style &style)
{
	text::Page page({style.colour, style.unicode}, static_cast<size_t>(std::clamp(style.width, 40, 1000)));
	for (const Seen &seen : all) {
		page.heading(fmt::format("isolation {}", seen.level));
		for (const cpuset::Step &step : seen.steps)
			if (step.state == cpuset::StepState::NotPossible)
				page.paragraph("not done", fmt::format("{}: {}", step.name, step.found));
		text::add_noise_of_cpus(page, seen.noise);
		for (const auto &[label, wakes] : {std::pair{"deep idle", &seen.wakes}, {"shallow", &seen.wakes_held}}) {
			std::string text;
			for (const model::CpuWake &wake : *wakes)
				text += fmt::format("{}CPU {} p50 {}, p90 {}", text.empty() ? "" : " · ", wake.cpu,
									stats::duration(static_cast<double>(wake.p50_ns)),
									stats::duration(static_cast<double>(wake.p90_ns)));
			if (!text.empty())
				page.paragraph(label, "a thread wakes late by: " + text);
		}
		if (seen.wakes.empty() && seen.wakes_held.empty())
			page.paragraph("idle", "not measured: icepath may not run on these CPUs");
		std::string interrupts;
		for (const model::InterruptCount &row : seen.interrupts)
			interrupts += fmt::format("{}{} {} times", interrupts.empty() ? "" : ", ",
									  row.name.empty() ? row.label : fmt::format("{} ({})", row.label, row.name),
									  stats::count(row.count));
		page.paragraph("irqs", interrupts.empty() ? "none" : interrupts);
		if (seen.steal)
			page.paragraph("steal", fmt::format("{} of the CPUs' time, in ticks of 10 ms",
												stats::percent(static_cast<double>(seen.steal->ns) /
															   static_cast<double>(seen.steal->of_ns))));
		page.line();
	}
	return page.take();
}

ExitCode measure_noise(const DoctorOptions &options, const Style &style)
{
	handle_signals();
	const privilege::Identity user = privilege::invoking_user();
	if (!user.was_root)
		throw Failure(ExitCode::MachineCannot, "naming what takes CPUs needs root: run `sudo icepath doctor --noise`");
	// Starts both before any other use of root's rights, which icepath then gives up.
	privilege::Helper helper(user);
	std::optional<isolation::Keeper> keeper;
	if (options.isolate == cpuset::Level::Full)
		keeper.emplace(user);
	cpuset::Soft soft(cpuset::Level::Soft, false, user.stays_root);
	privilege::become(user);

	const cpuset::Machine machine = cpuset::read_machine(cpuset::read_permission());
	const cpuset::Choice choice =
		options.cpus.empty() ? cpuset::choose_pair(machine) : cpuset::given_cpus(machine, options.cpus);
	std::vector<uint32_t> cpus = cpuset::measuring_cpus(choice);
	std::ranges::sort(cpus);
	cpus.erase(std::ranges::unique(cpus).begin(), cpus.end());
	(void)helper.claim(cpus);
	privilege::Helper::Loaded loaded = helper.load(cpus, kRecordsPerSlot, options.tier);
	const privilege::SlotsView slots(loaded, cpus);
	helper.attach(noise::needed_probes());
	(void)cpuset::confine_process(choice.housekeeping);
	const noise::Capture capture{helper, slots};
	NoiseOf noise(cpus, static_cast<uint64_t>(options.duration_s * 1e9), capture, soft);
	std::vector<Seen> seen = {noise.look("none", nullptr)};
	if (keeper && !run::is_interrupted()) {
		std::vector<cpuset::Step> steps = keeper->isolate(cpus);
		seen.push_back(noise.look("full", &*keeper));
		seen.back().steps = std::move(steps);
		for (const std::string &left : keeper->put_back())
			complain(fmt::format("icepath: {}\n", left));
	}
	if (run::is_interrupted())
		throw Failure(ExitCode::Interrupted, "interrupted: nothing is reported");
	print(options.json ? json_of(seen) : text_of(seen, style));
	return ExitCode::Ok;
}

constexpr uint64_t kLookNs = 500'000'000; // as short as a look before a run

// The noise of these CPUs with what takes them by name, which takes root's rights; empty: it can't be had.
std::vector<model::CpuNoise> named_noise(const std::vector<uint32_t> &cpus, std::optional<capture::Tier> tier)
{
	const privilege::Identity user = privilege::invoking_user();
	if (!user.was_root)
		return {};
	try {
		const auto is_measured = [&](const privilege::Claim &claim) {
			return std::ranges::find(cpus, claim.cpu) != cpus.end();
		};
		if (std::ranges::any_of(privilege::read_claims(), is_measured)) // by a run, which probes would disturb
			return {};
		privilege::Helper helper(user);
		privilege::become(user);
		privilege::Helper::Loaded loaded = helper.load(cpus, kRecordsPerSlot, tier);
		const privilege::SlotsView slots(loaded, cpus);
		helper.attach(noise::needed_probes());
		const noise::Capture capture{helper, slots};
		return noise::measure(cpus, kLookNs, &capture, {});
	} catch (const Failure &) {
		return {};
	}
}

std::vector<doctor::FitFor> look_at_cpus(std::optional<capture::Tier> tier)
{
	constexpr int kLooks = 5;
	const cpuset::Machine machine = cpuset::read_machine(cpuset::read_permission());
	const cpuset::Choice choice = cpuset::choose_pair(machine);
	model::Quietness look;
	std::vector<uint64_t> round_trips_ns;
	const auto look_at_line = [&] {
		for (int i = 0; choice.sender != choice.receiver && i < kLooks; ++i)
			if (const auto round_trip_ns = machine::round_trip_ns(choice.sender, choice.receiver))
				round_trips_ns.push_back(*round_trip_ns);
	};
	look_at_line();
	std::vector<uint32_t> cpus = {choice.sender};
	if (choice.receiver != choice.sender)
		cpus.push_back(choice.receiver);
	try {
		look.noise = noise::measure(cpus, kLookNs, nullptr, {});
	} catch (const Failure &) { // the output says that it is unknown
	}
	look_at_line();
	if (round_trips_ns.size() > 1) {
		const auto [low, high] = std::ranges::minmax(round_trips_ns);
		look.round_trip_ns = {low, high};
	}
	const bool is_fit = std::ranges::all_of(model::fitness(look), [](const auto &one) { return one.fit == true; });
	return doctor::fit_for(look, is_fit ? std::vector<model::CpuNoise>() : named_noise(cpus, tier),
						   machine.can_stop_tick);
}

} // namespace

ExitCode doctor(const DoctorOptions &options, const Style &style)
{
	if (options.restore)
		return restore();
	if (options.noise)
		return measure_noise(options, style);
	const auto checks = doctor::examine(options.tier);
	const std::vector<doctor::FitFor> fit_for = look_at_cpus(options.tier);
	if (options.json) {
		print(doctor::to_json(checks, fit_for));
	} else {
		const auto width = static_cast<size_t>(std::clamp(style.width, 40, 1000));
		const std::string text = options.verbose ? doctor::to_text(checks, fit_for, style.colour)
												 : doctor::summary_text(checks, fit_for, style.colour, width);
		print(style.unicode ? text : text::to_ascii(text));
	}
	return doctor::can_run(checks) ? ExitCode::Ok : ExitCode::MachineCannot;
}

} // namespace icepath::cli
