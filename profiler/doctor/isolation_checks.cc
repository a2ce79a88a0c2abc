// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/isolation_checks.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "profiler/failure.h"
#include "profiler/isolation/full.h"
#include "profiler/isolation/journal.h"

namespace icepath::doctor {
namespace {

Possible possible_of(const cpuset::Step &step)
{
	return step.remedy.starts_with("boot with") ? Possible::AfterReboot
		   : step.remedy.starts_with("use ")    ? Possible::NotHere
												: Possible::Now;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kMendedByFull = {{
	{"other_tasks", "full partition"},
	{"interrupts", "full interrupts"},
	{"frequency", "full frequency"},
	{"idle_states", "full resume_latency"},
}};

constexpr const char *kFixedStay = "under --isolate full too they interrupt workers: interrupt, with their names";

bool full_mends(std::string_view item, const std::vector<Check> &full)
{
	const auto *mended = std::ranges::find(kMendedByFull, item, &decltype(kMendedByFull)::value_type::first);
	if (mended == kMendedByFull.end())
		return false;
	const auto check = std::ranges::find(full, mended->second, &Check::name);
	return check != full.end() && (check->verdict == Verdict::Ok || check->effect == kFixedStay);
}

// Of the item's own remedy.
Possible possible_of(std::string_view item, const cpuset::Machine &machine)
{
	if (item == "housekeeping" || (item == "timer_tick" && !machine.can_stop_tick))
		return Possible::NotHere;
	if (item == "other_tasks" || item == "timer_tick")
		return machine.online().size() > 1 ? Possible::AfterReboot : Possible::NotHere;
	if (item == "rt_throttling" && machine.has_fair_server && machine.fair_servers.empty())
		return Possible::NotHere;
	return item == "clock" ? Possible::AfterReboot : Possible::Now;
}

bool fixed_stay(const cpuset::Machine &machine, const cpuset::CpuList &cpus)
{
	return std::ranges::any_of(cpuset::irqs_of(machine, cpus), [&](const cpuset::Irq *irq) {
		return !irq->fixed.empty() && cpuset::comes_often(*irq, machine, cpus);
	});
}

} // namespace

Check soft_check(const cpuset::Step &step)
{
	const std::string label = "soft " + step.name;
	if (step.state != cpuset::StepState::NotPossible)
		return {label, Verdict::Ok, step.found, "", ""};
	return {label,
			Verdict::Warn,
			step.found,
			step.name == "memory"
				? "workers may lose pages; then they sleep for a fault: blocked/fault"
				: "waking an idle CPU is a part of most latencies, often the largest, and hides how transports differ",
			step.remedy,
			possible_of(step)};
}

Check full_check(const cpuset::Step &step, bool fixed_stay)
{
	const std::string label = "full " + step.name;
	if (step.state == cpuset::StepState::NotPossible)
		return {label,       Verdict::Warn,    step.found, "under --isolate full this stays as it is",
				step.remedy, possible_of(step)};
	return fixed_stay ? Check{label, Verdict::Warn, step.found, kFixedStay, ""}
					  : Check{label, Verdict::Ok, step.found, "", ""};
}

std::vector<Check> full_checks(const cpuset::Machine &machine, const cpuset::Choice &choice)
{
	const auto impossible = [](const std::string &why) {
		return std::vector<Check>{{"full", Verdict::Warn, why, "no run can be measured under --isolate full", ""}};
	};
	if (const std::string why = isolation::why_not_the_machine(); !why.empty())
		return impossible(why);
	cpuset::CpuList measured = {choice.sender, choice.receiver};
	if (machine.cpus.size() <= 2)
		measured = {cpuset::lone_cpu(machine)};
	utsname kernel{};
	uname(&kernel);
	const isolation::Tree tree{""};
	isolation::Changes none(tree);
	std::vector<Check> checks;
	try {
		const cpuset::CpuList cpus = isolation::cpus_to_isolate(machine, measured);
		for (const cpuset::Step &step : isolation::isolate(none, machine, cpus, kernel.release))
			checks.push_back(full_check(step, step.name == "interrupts" && fixed_stay(machine, cpus)));
	} catch (const Failure &failure) {
		return impossible(failure.what());
	}
	if (isolation::journal_is_left(tree))
		checks.push_back({"full leftovers", Verdict::Warn, "a killed run has left this machine changed",
						  "what it kept off its CPUs stays off them", "sudo icepath doctor --restore"});
	return checks;
}

Check other_runs_check(const std::vector<privilege::Claim> &claims)
{
	std::map<pid_t, cpuset::CpuList> cpus;
	for (const privilege::Claim &claim : claims)
		cpus[claim.holder].push_back(claim.cpu);
	std::string found;
	for (auto &[holder, its] : cpus) {
		std::ranges::sort(its);
		found += fmt::format("{}another icepath (process {}) measures on CPU{} {}", found.empty() ? "" : ", ", holder,
							 its.size() == 1 ? "" : "s", cpuset::format_cpulist(its));
	}
	if (found.empty())
		return {"other runs", Verdict::Ok, "no other icepath measures", "", ""};
	return {"other runs", Verdict::Warn, found, "what it does is among what takes these CPUs",
			"wait until it has ended"};
}

Check isolation_check(const cpuset::IsolationItem &item, const cpuset::Machine &machine, const std::vector<Check> &full)
{
	Check check{
		"isolation " + item.name,       item.quiet ? Verdict::Ok : Verdict::Warn, item.found, item.effect, item.remedy,
		possible_of(item.name, machine)};
	if (!item.quiet && full_mends(item.name, full)) {
		check.remedy = "sudo icepath run --isolate full";
		if (machine.cpus.size() <= 2)
			check.remedy += " " + cpuset::alone_on(cpuset::lone_cpu(machine));
		check.possible = Possible::Now;
	}
	return check;
}

} // namespace icepath::doctor
