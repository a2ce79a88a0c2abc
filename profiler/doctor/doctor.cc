// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/doctor.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cpuset/choose.h"
#include "cpuset/soft.h"
#include "cpuset/topology.h"
#include "profiler/capture/selection.h"
#include "profiler/capture/thread_pidfd.h"
#include "profiler/capture/untraced_interrupts.h"
#include "profiler/doctor/architecture.h"
#include "profiler/doctor/boot.h"
#include "profiler/doctor/fit_for.h"
#include "profiler/doctor/isolation_checks.h"
#include "profiler/doctor/restrictions.h"
#include "profiler/doctor/trials.h"
#include "profiler/failure.h"
#include "profiler/isolation/full.h"
#include "profiler/machine/host.h"
#include "profiler/privilege/cpu_claim.h"
#include "profiler/privilege/identity.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/text/fitness_words.h"

namespace icepath::doctor {
namespace {

constexpr std::array<const char *, 3> kPossibleNames = {"now", "after a reboot", "not here"};
constexpr std::array<std::string_view, 3> kVerdictNames = {"ok", "warn", "fail"};
std::string_view name(Verdict verdict) { return kVerdictNames[static_cast<size_t>(verdict)]; }

Check kernel_check()
{
	utsname kernel{};
	uname(&kernel);
	const std::string found = fmt::format("{} {}", kernel.release, kernel.machine);
	int major = 0, minor = 0;
	std::sscanf(kernel.release, "%d.%d", &major, &minor);
	// sched_switch has passed the previous state since 5.18 (commit fa2c3254d7cf).
	if (major < 5 || (major == 5 && minor < 18))
		return {"kernel",
				Verdict::Fail,
				found,
				"the sched_switch probe reads its fourth argument, which came with 5.18",
				"use a newer kernel (Debian 12's 6.1 will do)",
				Possible::NotHere};
	return {"kernel", Verdict::Ok, found, "", ""};
}

Check btf_check()
{
	if (std::filesystem::exists("/sys/kernel/btf/vmlinux"))
		return {"btf", Verdict::Ok, "/sys/kernel/btf/vmlinux", "", ""};
	return {"btf", Verdict::Fail, "no /sys/kernel/btf/vmlinux", "no probe can be loaded",
			"mount /sys, or use a kernel with CONFIG_DEBUG_INFO_BTF=y"};
}

// Tried in this process, or, for a user without root, by the root helper, which has more rights.
struct Tried {
	capture::Selection probes;
	std::string refused; // why none could be tried; empty: they were
};

Tried none_tried(const std::string &refused)
{
	Tried tried;
	tried.probes.fill({false, {}, "not tried"});
	tried.refused = refused;
	return tried;
}

// A helper loads only for CPUs that it has claimed. Throws Failure if there is no CPU that no run has.
uint32_t claim_any(privilege::Helper &helper)
{
	const cpuset::CpuList online = cpuset::read_machine(cpuset::read_permission()).online();
	for (const uint32_t cpu : online)
		try {
			(void)helper.claim({cpu});
			return cpu;
		} catch (const Failure &) {
			if (cpu == online.back())
				throw;
		}
	return 0;
}

Tried tried_by_helper(const privilege::Identity &user, std::optional<capture::Tier> tier)
{
	constexpr uint32_t kFewRecords = 64;
	try {
		privilege::Helper helper(user);
		return {helper.load({claim_any(helper)}, kFewRecords, tier).selection, ""};
	} catch (const Failure &failure) {
		return none_tried(failure.what());
	}
}

// Without these nothing can be tried: kernels may ask for CAP_SYS_ADMIN as well.
std::vector<std::string> missing_capabilities(const Restrictions &restrictions)
{
	std::vector<std::string> missing = restrictions.missing;
	std::erase(missing, "CAP_SYS_ADMIN");
	return missing;
}

Tried try_probes(const privilege::Identity &user, bool has_btf, std::optional<capture::Tier> tier,
				 const Restrictions &restrictions)
{
	if (!has_btf)
		return none_tried("nothing is tried without BTF");
	if (missing_capabilities(restrictions).empty()) {
		Tried tried;
		for (size_t i = 0; i < tried.probes.size(); i++)
			tried.probes[i] = capture::try_probe(i, tier);
		return tried;
	}
	const std::string why_not = user.was_root ? "" : privilege::why_not_without_root();
	return user.was_root || !why_not.empty() ? none_tried(why_not) : tried_by_helper(user, tier);
}

Check privilege_check(const privilege::Identity &user, const Tried &tried, const Restrictions &restrictions)
{
	const std::vector<std::string> missing = missing_capabilities(restrictions);
	if (!missing.empty() && !user.was_root && tried.refused.empty())
		return {"privileges", Verdict::Ok,
				fmt::format("uid {}; icepath-helper has CAP_BPF and CAP_PERFMON for you (icepath setup)", user.uid), "",
				""};
	if (!missing.empty())
		return {"privileges",
				Verdict::Fail,
				fmt::format("uid {}, without {}{}{}", geteuid(), named_with_settings(missing, restrictions),
							tried.refused.empty() ? "" : "; ", tried.refused),
				"no probe can be loaded",
				user.was_root ? "give the container CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN"
							  : "sudo icepath doctor; sudo icepath run; or, for a group, sudo icepath setup",
				user.was_root ? Possible::NotHere : Possible::Now};
	if (user.stays_root)
		return {"privileges", Verdict::Warn, "root, without an invoking user",
				"workers and result files belong to root: there is no user to give them to",
				"start it with sudo from an ordinary user"};
	return {"privileges", Verdict::Ok, fmt::format("uid {} with CAP_BPF and CAP_PERFMON", geteuid()), "", ""};
}

Check probe_check(const capture::Probe &probe, const capture::Trial &trial, bool allowed,
				  const Restrictions &restrictions)
{
	const std::string label = fmt::format("probe {}", probe.name);
	if (!allowed)
		return {label, Verdict::Fail, trial.why_not, fmt::format("can't be seen: {}", probe.uses.text()),
				"see privileges and btf"};
	if (trial.works)
		return {label, Verdict::Ok,
				fmt::format("{}: {}{}", described(trial.candidate), probe.uses.text(),
							trial.why_not.empty() ? "" : fmt::format(" ({})", trial.why_not)),
				"", ""};
	const Verdict verdict = capture::is_essential(probe) ? Verdict::Fail : Verdict::Warn;
	if (capture::is_want_of_rights(trial.why_not)) {
		const Refusal refusal = refusal_of(trial.why_not, restrictions);
		return {label,
				verdict,
				fmt::format("{}: {}", trial.why_not, refusal.cause),
				fmt::format("{}: shown by {}", probe.uses.text(), probe.instead),
				refusal.remedy,
				refusal.possible};
	}
	return {label,
			verdict,
			trial.why_not,
			fmt::format("{}: shown by {}", probe.uses.text(), probe.instead),
			"use a kernel that has it: functions need fentry (CONFIG_FUNCTION_TRACER) or kprobes, which "
			"Debian's has, or let `icepath calibrate` place what they would show; sched_exit_tp came with 6.16",
			Possible::NotHere};
}

// A preemptible softirq is attributed with the task that it runs in.
Check preemption_check()
{
	utsname kernel{};
	uname(&kernel);
	if (!machine::is_preempt_rt(kernel))
		return {"softirqs", Verdict::Ok, "not preemptible: each has its CPU until its end", "", ""};
	return {"softirqs", Verdict::Ok, "preemptible (PREEMPT_RT): each is reported with the task that it runs in", "",
			""};
}

Check threads_check()
{
	const std::string missing = capture::thread_pidfds_missing();
	if (missing.empty())
		return {"threads", Verdict::Ok, "threads of one process can be distinguished (PIDFD_THREAD)", "", ""};
	return {"threads",
			Verdict::Warn,
			missing,
			"cells between threads of one process (--between threads) are left out",
			"use Linux 6.9 or later",
			Possible::NotHere};
}

Check clock_check(const cpuset::Choice &choice)
{
	const ClockTrial trial = try_clock(choice.sender, choice.receiver);
	std::string found = fmt::format("{}, {} ns a reading", trial.source, trial.read_ns);
	if (choice.sender != choice.receiver)
		found += fmt::format(", offset between CPU {} and {} {} ± {} ns, {} readings out of order", choice.sender,
							 choice.receiver, trial.offset_ns, trial.error_ns, trial.backward);
	if (trial.backward || std::abs(trial.offset_ns) > trial.error_ns + 100)
		return {"clock",
				Verdict::Fail,
				found,
				"one-way latencies are wrong by the offset",
				"boot with tsc=reliable, or choose CPUs of one socket by --cpus",
				Possible::AfterReboot};
	if (trial.source != "tsc" && trial.source != "arch_sys_counter" && trial.source != "kvm-clock")
		return {"clock",
				Verdict::Warn,
				found,
				"each stamp costs a system call or a slow device read",
				"boot with clocksource=tsc tsc=reliable where the CPU has an invariant TSC",
				Possible::AfterReboot};
	return {"clock", Verdict::Ok, found, "", ""};
}

} // namespace

const char *name(Possible possible) { return kPossibleNames[static_cast<size_t>(possible)]; }

std::vector<Check> examine(std::optional<capture::Tier> tier)
{
	const privilege::Identity user = privilege::invoking_user();
	const Restrictions restrictions = read_restrictions();
	std::vector<Check> checks = {kernel_check(), btf_check()};
	const bool has_btf = checks[1].verdict != Verdict::Fail;
	const Tried tried = try_probes(user, has_btf, tier, restrictions);
	checks.push_back(privilege_check(user, tried, restrictions));
	const bool allowed = has_btf && checks[2].verdict != Verdict::Fail;
	checks.push_back(lockdown_check(restrictions, std::ranges::any_of(tried.probes, &capture::Trial::works)));
	if (!user.was_root)
		checks.push_back(sampling_check(restrictions));
	for (size_t i = 0; i < tried.probes.size(); i++)
		checks.push_back(probe_check(capture::kProbes[i], tried.probes[i], allowed, restrictions));
	for (Check &check : layer_checks(tried.probes))
		checks.push_back(std::move(check));
	cpuset::Machine machine = cpuset::read_machine(cpuset::read_permission());
	const bool is_container = !isolation::why_not_the_machine().empty();
	if (!is_container)
		isolation::find_fixed(isolation::Tree{""}, machine);
	const cpuset::Choice choice = cpuset::choose_pair(machine);
	checks.push_back({"cpus", choice.sender == choice.receiver ? Verdict::Warn : Verdict::Ok, choice.why,
					  choice.sender == choice.receiver
						  ? "sender and receiver share one CPU: no cross-CPU wakeup can be measured"
						  : "",
					  choice.sender == choice.receiver ? "use a machine with two CPUs" : "", Possible::NotHere});
	if (missing_capabilities(restrictions).empty())
		try {
			checks.push_back(other_runs_check(privilege::read_claims()));
		} catch (const privilege::NoClaims &) { // then a run says so
		}
	const cpuset::Soft soft(cpuset::Level::Soft, false, user.stays_root);
	for (const cpuset::Step &step : soft.steps())
		checks.push_back(soft_check(step));
	const std::vector<Check> full = full_checks(machine, choice);
	for (const cpuset::IsolationItem &item :
		 cpuset::look_at_isolation(machine, choice, soft.level(), soft.steps()).items)
		checks.push_back(isolation_check(item, machine, full));
	checks.insert(checks.end(), full.begin(), full.end());
	checks.push_back(preemption_check());
	checks.push_back(interrupts_check(
		capture::counted_since({}, capture::untraced_interrupts({choice.sender, choice.receiver})), machine));
	checks.push_back(clock_check(choice));
	checks.push_back(counters_check(try_counters()));
	checks.push_back(threads_check());
	utsname kernel{};
	uname(&kernel);
	if (const auto absent = architecture_check(kernel.machine))
		checks.push_back(*absent);
	const BootedBy booted_by = look_at_boot(machine.hypervisor, is_container);
	for (Check &check : checks)
		check = as_booted(std::move(check), booted_by);
	return checks;
}

std::string to_text(const std::vector<Check> &checks, const std::vector<FitFor> &fit_for, bool colour)
{
	constexpr std::array<const char *, 3> paint = {"\033[32m", "\033[33m", "\033[31m"};
	std::string text;
	for (const Check &check : checks) {
		const std::string verdict = fmt::format("{:<4}", name(check.verdict));
		text += fmt::format("{}{}{}  {:<34} {}\n", colour ? paint[static_cast<size_t>(check.verdict)] : "", verdict,
							colour ? "\033[0m" : "", check.name, check.found);
		if (!check.effect.empty())
			text += fmt::format("      effect: {}\n", check.effect);
		if (!check.remedy.empty())
			text += fmt::format("      remedy: {} ({})\n", check.remedy, name(check.possible));
	}
	for (const FitFor &fit : fit_for) {
		const model::Fitness &one = fit.fitness;
		text += fmt::format("fit for {}: {}: {} (yes: {}){}{}\n", name_of(one.purpose), text::answer(one),
							text::found_text(one), text::threshold_text(one.purpose), fit.taken_by.empty() ? "" : ": ",
							fit.taken_by);
		if (!fit.remedy.empty())
			text += fmt::format("      remedy: {} ({})\n", fit.remedy, name(fit.possible));
	}
	text += can_run(checks) ? "icepath can run here.   next: sudo icepath run\n"
							: "icepath can't break messages down here: fix the checks that failed.\n";
	return text;
}

std::string to_json(const std::vector<Check> &checks, const std::vector<FitFor> &fit_for)
{
	nlohmann::ordered_json json = {
		{"schema_version", 1}, {"can_run", can_run(checks)}, {"checks", nlohmann::ordered_json::array()}};
	for (const Check &check : checks)
		json["checks"].push_back(
			{{"name", check.name},
			 {"verdict", name(check.verdict)},
			 {"found", check.found},
			 {"effect", check.effect},
			 {"remedy", check.remedy},
			 {"possible", check.remedy.empty() ? nullptr : nlohmann::ordered_json(name(check.possible))}});
	json["fit_for"] = nlohmann::ordered_json::array();
	for (const auto &[one, taken_by, remedy, possible] : fit_for)
		json["fit_for"].push_back({{"purpose", name_of(one.purpose)},
								   {"fit", one.fit ? nlohmann::ordered_json(*one.fit) : nullptr},
								   {"found", text::found_text(one)},
								   {"threshold", text::threshold_text(one.purpose)},
								   {"taken_by", taken_by},
								   {"remedy", remedy},
								   {"possible", remedy.empty() ? nullptr : nlohmann::ordered_json(name(possible))}});
	return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

bool can_run(const std::vector<Check> &checks)
{
	for (const Check &check : checks)
		if (check.verdict == Verdict::Fail)
			return false;
	return true;
}

} // namespace icepath::doctor
