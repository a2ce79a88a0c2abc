// SPDX-License-Identifier: Apache-2.0
#include "cpuset/choose.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "profiler/failure.h"

namespace icepath::cpuset {
namespace {

bool same_core(const Cpu &a, const Cpu &b) { return contains(a.siblings, b.number); }
bool same_llc(const Cpu &a, const Cpu &b) { return contains(a.llc, b.number); }

// Compared lexicographically; larger is better.
auto merit(const Cpu &a, const Cpu &b)
{
	// If no cache is shared or known, the package still separates near from far.
	const int near = same_llc(a, b) ? 2 : a.package == b.package ? 1 : 0;
	const bool boot_cpu = a.number == 0 || b.number == 0;
	const bool boot_core = contains(a.siblings, 0) || contains(b.siblings, 0);
	return std::tuple(int{a.isolated} + int{b.isolated}, !same_core(a, b), near, a.capacity + b.capacity, !boot_cpu,
					  !boot_core);
}

CpuList housekeeping(const Machine &machine, const std::vector<uint32_t> &measuring)
{
	CpuList others, all;
	for (const Cpu &cpu : machine.cpus) {
		// Isolated CPUs are for measuring; icepath itself runs with the rest of the machine.
		if (!cpu.allowed || cpu.isolated)
			continue;
		all.push_back(cpu.number);
		if (std::ranges::find(measuring, cpu.number) == measuring.end())
			others.push_back(cpu.number);
	}
	if (!others.empty())
		return others;
	return all.empty() ? machine.affinity : all;
}

std::string describe(const Cpu &sender, const Cpu &receiver)
{
	if (sender.number == receiver.number)
		return fmt::format("sender and receiver share CPU {}, so they take turns and every message waits for a switch",
						   sender.number);
	std::string text = fmt::format("CPUs {} and {}: ", sender.number, receiver.number);
	if (sender.isolated && receiver.isolated)
		text += "both isolated";
	else if (sender.isolated || receiver.isolated)
		text += fmt::format("only CPU {} isolated", sender.isolated ? sender.number : receiver.number);
	else
		text += "not isolated";
	if (same_core(sender, receiver))
		text += ", two threads of one core, which share it";
	else if (same_llc(sender, receiver))
		text += ", two cores under one last-level cache";
	else if (sender.package == receiver.package)
		text += ", two cores of one package without a common cache";
	else
		text += fmt::format(", of packages {} and {}, so that messages cross the interconnect", sender.package,
							receiver.package);
	return text;
}

Choice make_choice(const Machine &machine, const Cpu &sender, const Cpu &receiver, const std::string &why)
{
	return {sender.number, receiver.number, {}, housekeeping(machine, {sender.number, receiver.number}), {}, why};
}

// `option` with its value, as typed.
const Cpu &usable(const Machine &machine, const std::string &option, uint32_t number)
{
	const Cpu *cpu = machine.find(number);
	if (!cpu && contains(machine.present, number))
		throw Failure(ExitCode::Usage, fmt::format("{}: CPU {} is offline; online are {}", option, number,
												   format_cpulist(machine.online())));
	if (!cpu)
		throw Failure(ExitCode::Usage, fmt::format("{}: CPU {} doesn't exist: this machine has {}", option, number,
												   format_cpulist(machine.online())));
	if (!cpu->allowed) {
		CpuList allowed;
		for (const Cpu &other : machine.cpus)
			if (other.allowed)
				allowed.push_back(other.number);
		throw Failure(ExitCode::Usage,
					  fmt::format("{}: this process may not run on CPU {}: its affinity or cgroup cpuset has {}; "
								  "choose from these, or start icepath outside of that limit",
								  option, number, format_cpulist(allowed)));
	}
	return *cpu;
}

const Cpu &measuring(const Machine &machine, std::string_view option, std::string_view text)
{
	const auto number = parse_cpu(text);
	if (!number)
		throw Failure(ExitCode::Usage,
					  fmt::format("--cpus {}: \"{}\" isn't a CPU number; give the sender's and the receiver's, "
								  "as in --cpus 0,1",
								  option, text));
	return usable(machine, fmt::format("--cpus {}", option), *number);
}

} // namespace

Choice choose_pair(const Machine &machine)
{
	const Cpu *sender = nullptr, *receiver = nullptr, *only = nullptr;
	for (const Cpu &a : machine.cpus) {
		if (!a.allowed)
			continue;
		if (!only)
			only = &a;
		for (const Cpu &b : machine.cpus)
			if (b.allowed && a.number < b.number && (!sender || merit(a, b) > merit(*sender, *receiver)))
				sender = &a, receiver = &b;
	}
	if (!only)
		throw Failure(
			ExitCode::MachineCannot,
			fmt::format("this process may run on no online CPU ({}; its affinity: {}): widen its cgroup cpuset",
						format_cpulist(machine.online()), format_cpulist(machine.affinity)));
	if (!sender)
		return make_choice(machine, *only, *only,
						   fmt::format("only CPU {} may be used: {}", only->number, describe(*only, *only)));
	return make_choice(machine, *sender, *receiver, describe(*sender, *receiver));
}

Choice given_cpus(const Machine &machine, std::string_view option)
{
	if (option.find(',') == std::string_view::npos)
		throw Failure(
			ExitCode::Usage,
			fmt::format("--cpus {}: two CPUs are needed, the sender's and the receiver's, as in --cpus 0,1", option));
	std::vector<const Cpu *> cpus;
	for (size_t begin = 0, end = 0; end < option.size(); begin = end + 1) {
		end = std::min(option.find(',', begin), option.size());
		cpus.push_back(&measuring(machine, option, option.substr(begin, end - begin)));
	}
	if (option.ends_with(','))
		cpus.push_back(&measuring(machine, option, ""));
	Choice choice = make_choice(machine, *cpus[0], *cpus[1], "as asked for: " + describe(*cpus[0], *cpus[1]));
	for (size_t i = 2; i < cpus.size(); i++)
		choice.more.push_back(cpus[i]->number);
	choice.housekeeping = housekeeping(machine, measuring_cpus(choice));
	return choice;
}

CpuList given_daemon_cpus(const Machine &machine, const std::string &option)
{
	const auto cpus = parse_cpulist(option);
	if (!cpus || cpus->empty())
		throw Failure(ExitCode::Usage,
					  fmt::format("--daemon-cpus: \"{}\" isn't a list of CPUs: give one as 0-1,3", option));
	for (const uint32_t cpu : *cpus)
		(void)usable(machine, "--daemon-cpus " + option, cpu);
	return *cpus;
}

std::vector<uint32_t> measuring_cpus(const Choice &choice)
{
	std::vector<uint32_t> cpus = {choice.sender, choice.receiver};
	cpus.insert(cpus.end(), choice.more.begin(), choice.more.end());
	return cpus;
}

} // namespace icepath::cpuset
