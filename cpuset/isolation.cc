// SPDX-License-Identifier: Apache-2.0
#include "cpuset/isolation.h"

#include <algorithm>

#include <fmt/format.h>

#include "profiler/stats/quantity.h"

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

// " 9 050 156 times, now"; empty if it is unknown.
std::string times(const Irq &irq, const CpuList &cpus)
{
	return irq.came.empty() ? "" : fmt::format(" {} times, now", stats::count(came_to(irq, cpus)));
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

// What to boot with. `alone`: the CPU to measure on if all are measured on, because one has to stay with the machine.
template <typename Parameters>
std::string boot_with(const Parameters &parameters, const Machine &machine, const CpuList &cpus, uint32_t alone)
{
	if (cpus.size() < machine.online().size())
		return "boot with " + parameters(cpus);
	if (cpus.size() == 1)
		return "use a machine with another CPU, which stays with everything else";
	return fmt::format("boot with {}, and measure there alone: {}", parameters(CpuList{alone}), alone_on(alone));
}

IsolationItem other_tasks(const Machine &machine, const std::vector<const Cpu *> &cpus)
{
	const CpuList shared = lacking(cpus, [](const Cpu &cpu) { return cpu.isolated; });
	if (shared.empty())
		return {"other_tasks", true, "the kernel puts no other tasks on these CPUs", "", ""};
	return {"other_tasks", false, "open to every task of this machine: " + named(shared),
			"other tasks delay messages: runqueue and preempted, with the task's name",
			boot_with([&](const CpuList &those) { return isolating_parameters(machine, those); }, machine, shared,
					  lone_cpu(machine))};
}

IsolationItem timer_tick(const Machine &machine, const std::vector<const Cpu *> &cpus)
{
	const CpuList ticking = lacking(cpus, [](const Cpu &cpu) { return cpu.nohz_full; });
	if (ticking.empty())
		return {"timer_tick", true, "nohz_full: no tick while one task runs", "", ""};
	return {"timer_tick", false, "with the scheduler's tick: " + named(ticking),
			"a busy CPU is interrupted at every tick: interrupt, with the timer's name",
			machine.can_stop_tick ? boot_with([](const CpuList &those) { return "nohz_full=" + format_cpulist(those); },
											  machine, ticking, machine.online().back()) // the boot CPU keeps its tick
								  : "a kernel with CONFIG_NO_HZ_FULL, which this one isn't, booted with nohz_full="};
}

IsolationItem interrupts(const Machine &machine, const std::vector<const Cpu *> &cpus)
{
	CpuList numbers;
	for (const Cpu *cpu : cpus)
		numbers.push_back(cpu->number);
	const std::vector<const Irq *> all = irqs_of(machine, numbers);
	std::vector<const Irq *> often = all;
	std::erase_if(often, [&](const Irq *irq) { return !comes_often(*irq, machine, numbers); });
	if (often.empty())
		return {"interrupts", true,
				all.empty()
					? "no device interrupt goes to these CPUs"
					: fmt::format("{} device interrupts go to these CPUs, and come practically never", all.size()),
				"", ""};
	std::string names;
	constexpr size_t kNamed = 5;
	for (size_t i = 0; i < std::min(often.size(), kNamed); ++i)
		names += fmt::format("{}{} {}{} on {}", names.empty() ? "" : "; ", often[i]->number, often[i]->name,
							 times(*often[i], numbers), named(often[i]->cpus));
	return {"interrupts", false,
			fmt::format("{} device interrupts go to these CPUs{}: {}{}", often.size(),
						often.front()->came.empty() ? "" : ", since boot", names, often.size() > kNamed ? "; …" : ""),
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
	const std::optional<RealTimeLimit> limit = machine.real_time_limit();
	if (!limit)
		return {"rt_throttling", true, "real-time tasks are never throttled", "", ""};
	std::string remedy;
	if (limit->by_fair_server)
		remedy = fmt::format("{}echo 0 >{}/cpuN/runtime for these CPUs",
							 machine.fair_servers.empty() ? "as root, with debugfs mounted: " : "", kFairServers);
	if (limit->by_sysctl)
		remedy += std::string(remedy.empty() ? "" : ", and ") + "sysctl kernel.sched_rt_runtime_us=-1";
	return {"rt_throttling", false,
			fmt::format("ordinary tasks may take {} of every {} ms from real-time tasks ({})", limit->kept_ms,
						limit->period_ms,
						!limit->by_fair_server ? "kernel.sched_rt_runtime_us"
						: !limit->by_sysctl    ? "the kernel's fair server"
											   : "the kernel's fair server, and kernel.sched_rt_runtime_us"),
			"a real-time worker that polls without a pause may lose that to other tasks: preempted",
			remedy + ", where a hung real-time task may hang the machine"};
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

uint64_t came_to(const Irq &irq, const CpuList &cpus)
{
	uint64_t times = 0;
	for (const uint32_t cpu : cpus)
		times += irq.came_to(cpu);
	return times;
}

std::vector<const Irq *> irqs_of(const Machine &machine, const CpuList &cpus)
{
	std::vector<const Irq *> irqs;
	for (const Irq &irq : machine.irqs)
		if (std::ranges::any_of(cpus, [&](uint32_t cpu) { return contains(irq.cpus, cpu); }))
			irqs.push_back(&irq);
	std::ranges::stable_sort(irqs, std::ranges::greater(), [&](const Irq *irq) { return came_to(*irq, cpus); });
	return irqs;
}

bool is_often(uint64_t times, const Machine &machine)
{
	constexpr double kOftenS = 60;
	return static_cast<double>(times) * kOftenS > machine.up_s;
}

bool comes_often(const Irq &irq, const Machine &machine, const CpuList &cpus)
{
	return irq.came.empty() || is_often(came_to(irq, cpus), machine);
}

uint32_t lone_cpu(const Machine &machine)
{
	const auto fixed_and_all = [&](uint32_t cpu) {
		std::pair<uint64_t, uint64_t> times;
		for (const Irq *irq : irqs_of(machine, {cpu}))
			if (comes_often(*irq, machine, {cpu})) {
				times.first += irq->fixed.empty() ? 0 : irq->came_to(cpu);
				times.second += irq->came_to(cpu);
			}
		return times;
	};
	CpuList allowed = machine.online();
	std::erase_if(allowed, [&](uint32_t cpu) { return !machine.find(cpu)->allowed; });
	const CpuList cpus = allowed.empty() ? machine.online() : allowed;
	return *std::ranges::min_element(cpus.rbegin(), cpus.rend(), {}, fixed_and_all);
}

std::string alone_on(uint32_t cpu)
{
	return fmt::format("--cpus {0},{0} (both sides take turns there: another experiment)", cpu);
}

std::string isolating_parameters(const Machine &machine, const CpuList &cpus)
{
	CpuList others = machine.online();
	std::erase_if(others, [&](uint32_t cpu) { return contains(cpus, cpu); });
	return fmt::format("isolcpus=domain,managed_irq,{} irqaffinity={}", format_cpulist(cpus), format_cpulist(others));
}

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
