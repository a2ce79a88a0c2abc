// SPDX-License-Identifier: Apache-2.0
#include "cpuset/isolation.h"

#include <algorithm>

#include <fmt/format.h>

namespace icepath::cpuset {
namespace {

std::vector<const Cpu *> chosen(const Machine &machine, const Choice &choice)
{
	std::vector<const Cpu *> cpus = {machine.find(choice.sender)};
	if (choice.receiver != choice.sender)
		cpus.push_back(machine.find(choice.receiver));
	std::erase(cpus, nullptr);
	return cpus;
}

// The CPUs for which `test` is false.
template <typename Test> CpuList lacking(const std::vector<const Cpu *> &cpus, Test test)
{
	CpuList numbers;
	for (const Cpu *cpu : cpus)
		if (!test(*cpu))
			numbers.push_back(cpu->number);
	std::sort(numbers.begin(), numbers.end());
	return numbers;
}

// "CPU 3", "CPUs 3-4".
std::string named(const CpuList &cpus) { return (cpus.size() == 1 ? "CPU " : "CPUs ") + format_cpulist(cpus); }

// What to boot with. One CPU has to stay with the machine.
std::string boot_with(const std::string &parameter, const Machine &machine, CpuList cpus)
{
	if (cpus.size() < machine.online().size())
		return fmt::format("boot with {}{}", parameter, format_cpulist(cpus));
	if (cpus.size() == 1)
		return "use a machine with another CPU, which stays with everything else";
	cpus.erase(cpus.begin());
	return fmt::format("boot with {0}{1}, and measure there alone (--cpus {2},{2})", parameter, format_cpulist(cpus),
					   cpus.back());
}

IsolationItem other_tasks(const Machine &machine, const std::vector<const Cpu *> &cpus)
{
	const CpuList shared = lacking(cpus, [](const Cpu &cpu) { return cpu.isolated; });
	if (shared.empty())
		return {"other_tasks", true, "the kernel puts no other tasks on these CPUs", "", ""};
	return {"other_tasks", false, "open to every task of this machine: " + named(shared),
			"other tasks delay messages: runqueue and preempted, with the task's name",
			boot_with("isolcpus=domain,managed_irq,", machine, shared)};
}

IsolationItem timer_tick(const Machine &machine, const std::vector<const Cpu *> &cpus)
{
	const CpuList ticking = lacking(cpus, [](const Cpu &cpu) { return cpu.nohz_full; });
	if (ticking.empty())
		return {"timer_tick", true, "nohz_full: no tick while one task runs", "", ""};
	return {"timer_tick", false, "with the scheduler's tick: " + named(ticking),
			"a busy CPU is interrupted at every tick: interrupt, with the timer's name",
			machine.can_stop_tick ? boot_with("nohz_full=", machine, ticking)
								  : "a kernel with CONFIG_NO_HZ_FULL, which this one isn't"};
}

IsolationItem interrupts(const Machine &machine, const std::vector<const Cpu *> &cpus)
{
	std::string names;
	size_t count = 0;
	for (const Irq &irq : machine.irqs) {
		if (std::none_of(cpus.begin(), cpus.end(), [&](const Cpu *cpu) { return contains(irq.cpus, cpu->number); }))
			continue;
		constexpr size_t kNamed = 5;
		if (++count <= kNamed)
			names += fmt::format("{}{} {} on {}", names.empty() ? "" : ", ", irq.number, irq.name, named(irq.cpus));
		else if (count == kNamed + 1)
			names += ", …";
	}
	if (count == 0)
		return {"interrupts", true, "no device interrupt goes to these CPUs", "", ""};
	return {"interrupts", false, fmt::format("{} device interrupts go to these CPUs: {}", count, names),
			"a device interrupt stops a worker: interrupt, with its name",
			"write another CPU to /proc/irq/NUMBER/smp_affinity_list, or boot with irqaffinity="};
}

IsolationItem smt_sibling(const Machine &machine, const std::vector<const Cpu *> &cpus)
{
	CpuList siblings;
	for (const Cpu *cpu : cpus)
		for (const uint32_t sibling : cpu->siblings)
			if (sibling != cpu->number && machine.find(sibling))
				siblings.push_back(sibling);
	std::sort(siblings.begin(), siblings.end());
	siblings.erase(std::unique(siblings.begin(), siblings.end()), siblings.end());
	if (siblings.empty())
		return {"smt_sibling", true, "no other hardware thread is online on these cores", "", ""};
	const std::string list = format_cpulist(siblings);
	return {"smt_sibling", false, "on the cores of the chosen ones: " + named(siblings),
			"whatever runs there slows the workers in every layer, and no probe sees it",
			fmt::format("for the measurement, write 0 to /sys/devices/system/cpu/cpuN/online for each of {}", list)};
}

IsolationItem frequency(const std::vector<const Cpu *> &cpus)
{
	if (std::all_of(cpus.begin(), cpus.end(), [](const Cpu *cpu) { return cpu->governor.empty(); }))
		return {"frequency", true, "no frequency scaling that this kernel controls", "", ""};
	const CpuList scaled =
		lacking(cpus, [](const Cpu &cpu) { return cpu.governor.empty() || cpu.governor == "performance"; });
	if (scaled.empty())
		return {"frequency", true, "governor performance", "", ""};
	const Cpu *first =
		*std::find_if(cpus.begin(), cpus.end(), [&](const Cpu *cpu) { return contains(scaled, cpu->number); });
	return {"frequency", false, fmt::format("governor {} on {}", first->governor, named(scaled)),
			"messages after a pause find a slow CPU, so sparse traffic looks worse in every layer",
			"cpupower frequency-set -g performance"};
}

IsolationItem idle_states(const std::vector<const Cpu *> &cpus, const std::vector<Step> &steps)
{
	const auto step = std::ranges::find(steps, "idle_states", &Step::name);
	if (step != steps.end() && (step->state == StepState::Done || step->state == StepState::AlreadySo))
		return {"idle_states", true, step->found, "", ""};
	uint32_t deepest_us = 0;
	for (const Cpu *cpu : cpus)
		deepest_us = std::max(deepest_us, cpu->idle_exit_us.value_or(0));
	if (deepest_us <= 1)
		return {"idle_states", true, "no idle state that takes time to leave", "", ""};
	return {"idle_states", false, fmt::format("the deepest idle state takes up to {} µs to leave", deepest_us),
			"a receiver that sleeps long wakes late: wakeup/idle_exit",
			"sudo icepath run --isolate soft holds them off in blocks, where the kernel lets it"};
}

IsolationItem rt_throttling(const Machine &machine)
{
	if (!machine.throttles_real_time())
		return {"rt_throttling", true, "real-time tasks are never throttled", "", ""};
	return {"rt_throttling", false,
			fmt::format("real-time tasks get {} of every {} ms", static_cast<double>(machine.rt_runtime_us) / 1000,
						static_cast<double>(machine.rt_period_us) / 1000),
			"a real-time worker that polls without a pause may lose the rest to other tasks: preempted",
			"sysctl kernel.sched_rt_runtime_us=-1, where a hung real-time task may hang the machine"};
}

IsolationItem hypervisor(const Machine &machine)
{
	if (!machine.hypervisor)
		return {"hypervisor", true, "no hypervisor shows itself", "", ""};
	return {"hypervisor", false, "this is a virtual machine",
			"the host may stop a virtual CPU at any time; such a gap lengthens whatever layer it falls into", ""};
}

IsolationItem clock(const Machine &machine)
{
	// Counters that the vDSO and the probes read without a system call or a slow device.
	const bool fast = machine.clocksource == "tsc" || machine.clocksource == "arch_sys_counter" ||
					  machine.clocksource == "kvm-clock" || machine.clocksource == "riscv_clocksource" ||
					  machine.clocksource == "hyperv_clocksource_tsc_page";
	const std::string found =
		machine.clocksource.empty() ? "the clock source can't be read" : "clock source " + machine.clocksource;
	if (fast)
		return {"clock", true, found, "", ""};
	return {"clock", false, found, "a stamp may cost a microsecond or more, and every layer holds a part of it",
			"on x86 with a stable counter, boot with clocksource=tsc tsc=reliable"};
}

IsolationItem housekeeping(const Choice &choice)
{
	if (!contains(choice.housekeeping, choice.sender) && !contains(choice.housekeeping, choice.receiver))
		return {"housekeeping", true,
				fmt::format("icepath itself runs on {}{}", named(choice.housekeeping),
							choice.daemons.empty() ? "" : ", daemons of middleware on " + named(choice.daemons)),
				"", ""};
	return {"housekeeping", false, "no CPU is left for icepath itself",
			"icepath sleeps while a block runs, but what else this machine does shares the workers' CPUs",
			"allow icepath a third CPU, or use a machine that has one"};
}

} // namespace

Isolation look_at_isolation(const Machine &machine, const Choice &choice, Level level, const std::vector<Step> &steps)
{
	const auto cpus = chosen(machine, choice);
	return {choice,
			level,
			steps,
			{other_tasks(machine, cpus), timer_tick(machine, cpus), interrupts(machine, cpus),
			 smt_sibling(machine, cpus), frequency(cpus), idle_states(cpus, steps), rt_throttling(machine),
			 hypervisor(machine), clock(machine), housekeeping(choice)}};
}

} // namespace icepath::cpuset
