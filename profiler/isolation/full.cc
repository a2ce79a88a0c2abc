// SPDX-License-Identifier: Apache-2.0
#include "profiler/isolation/full.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>

#include "cpuset/isolation.h"
#include "profiler/failure.h"
#include "profiler/isolation/partition.h"
#include "profiler/stats/quantity.h"

namespace icepath::isolation {
namespace {

using cpuset::CpuList;
using cpuset::Step;
using cpuset::StepState;

CpuList without(const CpuList &cpus, const CpuList &those)
{
	CpuList rest;
	std::ranges::set_difference(cpus, those, std::back_inserter(rest));
	return rest;
}

// "CPU 3", "CPUs 2-3".
std::string named(const CpuList &cpus) { return (cpus.size() == 1 ? "CPU " : "CPUs ") + cpuset::format_cpulist(cpus); }

// The numbers behind a prefix, of a folder's entries.
std::set<uint32_t> numbers_in(const std::string &folder, const std::string &prefix)
{
	std::set<uint32_t> numbers;
	std::error_code error;
	for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
		 entry.increment(error)) {
		const std::string name = entry->path().filename();
		if (name.starts_with(prefix))
			if (const auto number = cpuset::parse_cpu(std::string_view(name).substr(prefix.size())))
				numbers.insert(*number);
	}
	return numbers;
}

class Full {
public:
	Full(Changes &changes, const cpuset::Machine &machine, const CpuList &cpus)
		: changes_(changes), machine_(machine), cpus_(cpus), others_(without(machine.online(), cpus))
	{}

	Step partition(const std::string &kernel)
	{
		Step step{"partition", StepState::NotPossible, why_no_partitions(changes_.tree(), kernel), ""};
		if (std::ranges::all_of(cpus_, [&](uint32_t cpu) { return machine_.find(cpu)->isolated; }))
			return {"partition", StepState::AlreadySo, "the kernel puts no other tasks on " + named(cpus_), ""};
		const std::string by_boot = "boot with " + cpuset::isolating_parameters(machine_, cpus_);
		if (!step.found.empty()) {
			step.remedy = by_boot;
			return step;
		}
		const Place controller = *place_of("cpuset_controller"), group = *place_of("group");
		const Outcome with = changes_.make(controller, [](const std::string &) { return kWithCpusets; });
		const bool has_controller = with.state != StepState::NotPossible;
		const Outcome made =
			has_controller ? changes_.make(group, [](const std::string &) { return kGroupThere; }) : with;
		step.state = made.state;
		step.found = fmt::format("/{}: {}", (has_controller ? group : controller).path(), made.why);
		if (made.state == StepState::Left)
			step.found = "other tasks would keep off " + named(cpus_);
		else if (made.state == StepState::AlreadySo) { // somebody else's
			step.state = StepState::NotPossible;
			step.found = "/" + group.path() + " is there already, and isn't this run's";
		} else if (made.state == StepState::Done) {
			auto *partition = dynamic_cast<Partition *>(changes_.open(group));
			step.found = partition->set_up(cpus_);
			if (step.found.empty())
				step.found = "other tasks keep off " + named(cpus_);
			else
				step.state = StepState::NotPossible;
			if (step.state == StepState::NotPossible)
				changes_.take_back();
		}
		if (step.state == StepState::NotPossible) {
			if (with.state == StepState::Done)
				changes_.take_back();
			step.remedy = by_boot;
		}
		return step;
	}

	Step interrupts()
	{
		std::vector<Outcome> outcomes;
		std::vector<const cpuset::Irq *> fixed;
		size_t late = 0;
		for (const cpuset::Irq &irq : machine_.irqs) {
			outcomes.push_back(keep_off("interrupt", irq.number));
			if (outcomes.back().state == StepState::Left && !irq.fixed.empty())
				outcomes.back() = {StepState::NotPossible, irq.fixed};
			if (outcomes.back().state == StepState::NotPossible)
				fixed.push_back(&irq);
			const StepState state = outcomes.back().state;
			late += (state == StepState::Done || state == StepState::AlreadySo) && is_delivered_here(irq.number);
		}
		outcomes.push_back(keep_off("new_interrupts"));
		Step step = told("interrupts", outcomes, "interrupts of devices", "keep off " + named(cpus_));
		if (!fixed.empty() && step.state != StepState::NotPossible)
			step.found += busiest_of(fixed);
		if (late > 0)
			step.found += fmt::format("; {} of them may come there once more", late);
		return step;
	}

	Step workqueues()
	{
		return told("workqueues", {keep_off("workqueues")}, "the kernel's unbound work", "keeps off " + named(cpus_));
	}

	Step watchdog()
	{
		return told("watchdog", {keep_off("watchdog")}, "the watchdog for lockups", "keeps off " + named(cpus_));
	}

	Step statistics()
	{
		constexpr int kSeconds = 120; // each is one interruption of every CPU
		const Outcome outcome = changes_.make(*place_of("stat_interval"), [](const std::string &old_value) {
			return std::atoi(old_value.c_str()) >= kSeconds ? old_value : std::to_string(kSeconds);
		});
		return told("statistics", {outcome}, "statistics of memory", fmt::format("are added up every {} s", kSeconds));
	}

	// Serves the time between blocks, and blocks in which CPUs can't be kept awake.
	Step resume_latency()
	{
		std::vector<Outcome> outcomes;
		for (const uint32_t cpu : cpus_)
			outcomes.push_back(set("resume_latency", cpu, "n/a")); // no latency is allowed; 0 would mean no limit
		return told("resume_latency", outcomes, "idle states that take time to leave", "stay off " + named(cpus_));
	}

	Step frequency()
	{
		const std::string folder = "sys/devices/system/cpu/cpufreq", root = changes_.tree().root + "/" + folder;
		std::vector<Outcome> outcomes;
		for (const uint32_t policy : numbers_in(root, "policy")) {
			const auto affected = changes_.tree().read(fmt::format("{}/policy{}/affected_cpus", folder, policy));
			std::istringstream list(affected.value_or(""));
			const std::set<uint32_t> of_policy{std::istream_iterator<uint32_t>(list), {}};
			if (std::ranges::none_of(cpus_, [&](uint32_t cpu) { return of_policy.contains(cpu); }))
				continue;
			// A driver may set the preference when the governor changes, so the preference is changed first and
			// restored last.
			if (changes_.tree().read(place_of("energy_preference", policy)->path()))
				outcomes.push_back(set("energy_preference", policy, "performance"));
			outcomes.push_back(set("governor", policy, "performance"));
		}
		if (outcomes.empty())
			return {"frequency", StepState::AlreadySo, "no frequency scaling that this kernel controls", ""};
		return told("frequency", outcomes, "governors of " + named(cpus_), "ask for performance");
	}

private:
	Outcome keep_off(const char *knob, uint32_t number = 0)
	{
		const Place place = *place_of(knob, number);
		const Form form = place.knob->form;
		return changes_.make(place, [&](const std::string &old_value) {
			const CpuList cpus = *cpus_in(form, old_value), rest = without(cpus, cpus_);
			return rest.size() == cpus.size() ? old_value : text_of(form, rest.empty() ? others_ : rest);
		});
	}

	// Where an interrupt is delivered. Some controllers let it move only when it comes: its next one still comes to the
	// CPU where it was (irq_move_pending).
	bool is_delivered_here(uint32_t irq) const
	{
		const auto text = changes_.tree().read(fmt::format("proc/irq/{}/effective_affinity_list", irq));
		const auto cpus = text ? cpuset::parse_cpulist(*text) : std::nullopt;
		return cpus && std::ranges::any_of(*cpus, [&](uint32_t cpu) { return cpuset::contains(cpus_, cpu); });
	}

	// Of those that can't be moved.
	std::string busiest_of(const std::vector<const cpuset::Irq *> &fixed) const
	{
		std::vector<const cpuset::Irq *> here = cpuset::irqs_of(machine_, cpus_);
		std::erase_if(here, [&](const cpuset::Irq *irq) { return std::ranges::find(fixed, irq) == fixed.end(); });
		if (here.empty())
			return ": none of these comes there";
		const cpuset::Irq &busiest = *here.front();
		if (!busiest.came.empty() && cpuset::came_to(busiest, cpus_) == 0)
			return ": none of these has come there";
		const std::string times = stats::count(cpuset::came_to(busiest, cpus_));
		return fmt::format(": most often comes {} {}{}", busiest.number, busiest.name,
						   busiest.came.empty() ? "" : fmt::format(", {} times since boot", times));
	}

	Outcome set(const char *knob, uint32_t number, const char *value)
	{
		return changes_.make(*place_of(knob, number), [&](const std::string &) { return value; });
	}

	static Step told(const char *name, const std::vector<Outcome> &outcomes, const std::string &what,
					 const std::string &does)
	{
		const auto count = [&](StepState state) { return std::ranges::count(outcomes, state, &Outcome::state); };
		Step step{name, StepState::AlreadySo, fmt::format("{} {}", what, does), ""};
		for (const StepState state : {StepState::NotPossible, StepState::Left, StepState::Done})
			if (count(state) > 0)
				step.state = state;
		const auto refused = count(StepState::NotPossible);
		if (step.state == StepState::Left)
			step.found = fmt::format("{} would be changed so that {} {}", count(StepState::Left), what, does);
		if (refused > 0) {
			const std::string &why = std::ranges::find(outcomes, StepState::NotPossible, &Outcome::state)->why;
			step.found = std::ssize(outcomes) == refused ? fmt::format("{}: {}", what, why)
														 : fmt::format("{}, but {} of {} can't be changed ({})",
																	   step.found, refused, outcomes.size(), why);
		}
		return step;
	}

	Changes &changes_;
	const cpuset::Machine &machine_;
	const CpuList &cpus_;
	const CpuList others_;
};

} // namespace

CpuList cpus_to_isolate(const cpuset::Machine &machine, const CpuList &measured)
{
	const CpuList online = machine.online();
	std::set<uint32_t> cpus;
	for (const uint32_t cpu : measured) {
		if (!machine.find(cpu))
			throw Failure(ExitCode::MachineCannot, fmt::format("CPU {} can't be isolated: it isn't online", cpu));
		cpus.insert(cpu);
	}
	std::set<uint32_t> cores = cpus;
	for (const uint32_t cpu : cpus)
		for (const uint32_t sibling : machine.find(cpu)->siblings)
			if (machine.find(sibling))
				cores.insert(sibling);
	if (cores.size() < online.size())
		cpus = cores;
	if (cpus.empty() || cpus.size() >= online.size())
		throw Failure(
			ExitCode::MachineCannot,
			fmt::format(
				"--isolate full leaves no CPU for the rest of this machine, which has {}: measure on fewer, {}, "
				"or take --isolate soft",
				named(online), cpuset::alone_on(cpuset::lone_cpu(machine))));
	return {cpus.begin(), cpus.end()};
}

void find_fixed(const Tree &tree, cpuset::Machine &machine)
{
	for (cpuset::Irq &irq : machine.irqs) {
		const Place place = *place_of("interrupt", irq.number);
		const auto knob = open_knob(tree, place);
		const auto cpus = knob ? knob->read() : std::nullopt;
		if (!cpus || !is_value(place.knob->form, *cpus))
			continue;
		if (const int error = tree.change(place.path(), [&] { return knob->write(*cpus); }))
			irq.fixed = std::strerror(error);
	}
}

std::vector<Step> isolate(Changes &changes, const cpuset::Machine &machine, const CpuList &cpus,
						  const std::string &kernel)
{
	Full full(changes, machine, cpus);
	std::vector<Step> steps;
	steps.push_back(full.partition(kernel));
	steps.push_back(full.interrupts());
	steps.push_back(full.workqueues());
	steps.push_back(full.statistics());
	steps.push_back(full.watchdog());
	steps.push_back(full.resume_latency());
	steps.push_back(full.frequency());
	return steps;
}

// The machine's initial namespaces have these numbers (include/linux/proc_ns.h).
std::string why_not_the_machine()
{
	constexpr std::pair<const char *, ino_t> kOfTheMachine[] = {
		{"user", 0xEFFFFFFD}, {"pid", 0xEFFFFFFC}, {"cgroup", 0xEFFFFFFB}};
	for (const auto &[name, number] : kOfTheMachine) {
		struct stat status{};
		if (stat(fmt::format("/proc/self/ns/{}", name).c_str(), &status) || status.st_ino != number)
			return fmt::format(
				"--isolate full and --tune change settings of the whole machine, and this is a container (it has a {} "
				"namespace of its own): run icepath on the host, or without these",
				name);
	}
	return "";
}

} // namespace icepath::isolation
