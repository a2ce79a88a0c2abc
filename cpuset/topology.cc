// SPDX-License-Identifier: Apache-2.0
#include "cpuset/topology.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "cpuset/interrupt_table.h"
#include "profiler/failure.h"

namespace icepath::cpuset {
namespace {

namespace fs = std::filesystem;

// The file's first line; empty if it can't be read.
std::string read_line(const std::string &path)
{
	std::ifstream file(path);
	std::string line;
	std::getline(file, line);
	return line;
}

template <typename Integer> std::optional<Integer> read_integer(const std::string &path)
{
	const std::string text = read_line(path);
	Integer value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (error != std::errc{} || end != text.data() + text.size())
		return std::nullopt;
	return value;
}

CpuList read_cpulist(const std::string &path) { return parse_cpulist(read_line(path)).value_or(CpuList{}); }

std::vector<fs::path> entries(const std::string &directory)
{
	std::error_code error;
	std::vector<fs::path> found;
	for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
		found.push_back(entry->path());
	std::sort(found.begin(), found.end());
	return found;
}

// The CPUs that share the data cache of the highest level.
CpuList read_llc(const std::string &cpu_path, uint32_t self)
{
	uint32_t best_level = 0;
	CpuList sharing = {self};
	for (const fs::path &index : entries(cpu_path + "/cache")) {
		const auto level = read_integer<uint32_t>(index / "level");
		if (!level || *level <= best_level || read_line(index / "type") == "Instruction")
			continue;
		const CpuList cpus = read_cpulist(index / "shared_cpu_list");
		if (contains(cpus, self)) {
			best_level = *level;
			sharing = cpus;
		}
	}
	return sharing;
}

std::optional<uint32_t> read_idle_exit(const std::string &cpu_path)
{
	std::optional<uint32_t> deepest;
	for (const fs::path &state : entries(cpu_path + "/cpuidle")) {
		if (read_integer<uint32_t>(state / "disable").value_or(0) != 0)
			continue;
		if (const auto latency = read_integer<uint32_t>(state / "latency"))
			deepest = std::max(deepest.value_or(0), *latency);
	}
	return deepest;
}

Cpu read_cpu(const std::string &cpu_path, uint32_t number)
{
	Cpu cpu;
	cpu.number = number;
	cpu.package = read_integer<uint32_t>(cpu_path + "/topology/physical_package_id").value_or(0);
	cpu.siblings = read_cpulist(cpu_path + "/topology/thread_siblings_list");
	if (!contains(cpu.siblings, number))
		cpu.siblings = {number};
	cpu.llc = read_llc(cpu_path, number);
	cpu.capacity = read_integer<uint32_t>(cpu_path + "/cpu_capacity").value_or(1024);
	cpu.governor = read_line(cpu_path + "/cpufreq/scaling_governor");
	cpu.idle_exit_us = read_idle_exit(cpu_path);
	return cpu;
}

std::vector<Irq> read_irqs(const std::string &root)
{
	const InterruptTable table = read_interrupts(root);
	std::vector<Irq> irqs;
	for (const fs::path &path : entries(root + "/proc/irq")) {
		const auto number = parse_cpu(path.filename().string());
		if (!number)
			continue;
		// A handler shows as a folder with its name (register_handler_proc()).
		std::string name;
		for (const fs::path &entry : entries(path)) {
			std::error_code error;
			if (fs::is_directory(entry, error))
				name += (name.empty() ? "" : ",") + entry.filename().string();
		}
		if (name.empty())
			continue;
		CpuList cpus = read_cpulist(path / "effective_affinity_list");
		if (cpus.empty())
			cpus = read_cpulist(path / "smp_affinity_list");
		Irq &irq = irqs.emplace_back(Irq{*number, name, cpus});
		const auto row = std::ranges::find(table.rows, std::to_string(*number), &InterruptRow::label);
		for (size_t i = 0; row != table.rows.end() && i < row->counts.size(); i++)
			irq.came.emplace_back(table.cpus[i], row->counts[i]);
	}
	std::sort(irqs.begin(), irqs.end(), [](const Irq &a, const Irq &b) { return a.number < b.number; });
	return irqs;
}

// x86 shows the CPUID bit as a flag; Xen has an entry in sysfs on every architecture.
bool read_hypervisor(const std::string &root)
{
	if (!read_line(root + "/sys/hypervisor/type").empty())
		return true;
	std::ifstream cpuinfo(root + "/proc/cpuinfo");
	for (std::string line; std::getline(cpuinfo, line);)
		if (line.starts_with("flags"))
			return (line + ' ').find(" hypervisor ") != std::string::npos;
	return false;
}

bool is_from_6_12(const std::string &root)
{
	int major = 0, minor = 0;
	std::sscanf(read_line(root + "/proc/sys/kernel/osrelease").c_str(), "%d.%d", &major, &minor);
	return std::pair(major, minor) >= std::pair(6, 12);
}

std::vector<FairServer> read_fair_servers(const std::string &root, const CpuList &cpus)
{
	std::vector<FairServer> servers;
	for (const uint32_t cpu : cpus) {
		const std::string folder = root + fmt::format("{}/cpu{}/", kFairServers, cpu);
		const auto runtime_ns = read_integer<uint64_t>(folder + "runtime"),
				   period_ns = read_integer<uint64_t>(folder + "period");
		if (!runtime_ns || !period_ns)
			return {};
		servers.push_back({*runtime_ns, *period_ns});
	}
	return servers;
}

CpuList get_affinity()
{
	// The kernel refuses a mask smaller than its own (sched_getaffinity(2)), so this is the largest possible.
	constexpr int kCpus = static_cast<int>(kMaxCpu) + 1;
	const size_t bytes = CPU_ALLOC_SIZE(kCpus);
	const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t *)> mask(CPU_ALLOC(kCpus), [](cpu_set_t *m) { CPU_FREE(m); });
	CPU_ZERO_S(bytes, mask.get());
	CpuList cpus;
	if (sched_getaffinity(0, bytes, mask.get()) == 0)
		for (uint32_t cpu = 0; cpu <= kMaxCpu; ++cpu)
			if (CPU_ISSET_S(cpu, bytes, mask.get()))
				cpus.push_back(cpu);
	return cpus;
}

// Adds the CPUs of the cgroup's isolated partitions, for kernels whose top cgroup has no cpuset.cpus.isolated (6.1).
// There the parent of a valid partition is a partition (Documentation/admin-guide/cgroup-v2.rst; remote ones came
// later), so other branches aren't entered.
void add_isolated_partitions(const std::filesystem::path &cgroup, CpuList &cpus)
{
	std::error_code none;
	for (const auto &child : std::filesystem::directory_iterator(cgroup, none)) {
		const std::string kind = child.is_directory(none) ? read_line(child.path() / "cpuset.cpus.partition") : "";
		if (kind != "isolated" && kind != "root") // an invalid partition reads "isolated invalid (…)"
			continue;
		if (kind == "isolated")
			for (const uint32_t cpu : read_cpulist(child.path() / "cpuset.cpus.effective"))
				cpus.push_back(cpu);
		add_isolated_partitions(child.path(), cpus);
	}
}

CpuList isolated_by_partitions(const std::string &root)
{
	CpuList cpus = read_cpulist(root + "/sys/fs/cgroup/cpuset.cpus.isolated");
	add_isolated_partitions(root + "/sys/fs/cgroup", cpus);
	std::ranges::sort(cpus);
	return cpus;
}

} // namespace

const Cpu *Machine::find(uint32_t number) const
{
	for (const Cpu &cpu : cpus)
		if (cpu.number == number)
			return &cpu;
	return nullptr;
}

uint64_t Irq::came_to(uint32_t cpu) const
{
	const auto at = std::ranges::find(came, cpu, &decltype(came)::value_type::first);
	return at == came.end() ? 0 : at->second;
}

std::optional<RealTimeLimit> Machine::real_time_limit() const
{
	RealTimeLimit limit;
	// With the fair server, the kernel limits only groups of real-time tasks, which the topmost is too.
	if ((!has_fair_server || has_rt_groups) && rt_runtime_us >= 0 && rt_runtime_us < rt_period_us) {
		limit = {static_cast<double>(rt_period_us - rt_runtime_us) / 1e3, static_cast<double>(rt_period_us) / 1e3};
		limit.by_sysctl = true;
	}
	const std::vector<FairServer> servers = fair_servers.empty() ? std::vector{FairServer{}} : fair_servers;
	for (const FairServer &server : servers) {
		const double kept_ms = static_cast<double>(server.runtime_ns) / 1e6;
		if (!has_fair_server || server.runtime_ns == 0)
			continue;
		limit.by_fair_server = true;
		if (kept_ms > limit.kept_ms)
			limit.kept_ms = kept_ms, limit.period_ms = static_cast<double>(server.period_ns) / 1e6;
	}
	return limit.by_sysctl || limit.by_fair_server ? std::optional(limit) : std::nullopt;
}

CpuList Machine::online() const
{
	CpuList numbers;
	for (const Cpu &cpu : cpus)
		numbers.push_back(cpu.number);
	return numbers;
}

Permission read_permission()
{
	Permission permission{get_affinity(), {}};
	std::thread trial([&permission] {
		constexpr int kCpus = static_cast<int>(kMaxCpu) + 1;
		const size_t bytes = CPU_ALLOC_SIZE(kCpus);
		cpu_set_t *all = CPU_ALLOC(kCpus);
		for (uint32_t cpu = 0; cpu <= kMaxCpu; ++cpu)
			CPU_SET_S(cpu, bytes, all);
		// __sched_setaffinity() intersects the mask with the cpuset.
		sched_setaffinity(0, bytes, all);
		CPU_FREE(all);
		permission.permitted = get_affinity();
	});
	trial.join();
	return permission;
}

Machine read_machine(const Permission &permission, const std::string &root)
{
	const std::string base = root + "/sys/devices/system/cpu";
	const auto online = parse_cpulist(read_line(base + "/online"));
	if (!online || online->empty())
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("{}/online doesn't list the online CPUs: is /sys mounted?", base));

	Machine machine;
	machine.affinity = permission.affinity;
	machine.present = read_cpulist(base + "/present");
	CpuList isolated = read_cpulist(base + "/isolated");
	const CpuList partition = isolated_by_partitions(root);
	const CpuList nohz_full = read_cpulist(base + "/nohz_full");
	machine.can_stop_tick = std::filesystem::exists(base + "/nohz_full"); // drivers/base/cpu.c
	for (const uint32_t number : *online) {
		Cpu cpu = read_cpu(base + "/cpu" + std::to_string(number), number);
		cpu.isolated = contains(isolated, number) || contains(partition, number);
		cpu.nohz_full = contains(nohz_full, number);
		cpu.allowed = contains(permission.permitted, number) && (cpu.isolated || contains(permission.affinity, number));
		machine.cpus.push_back(std::move(cpu));
	}
	machine.irqs = read_irqs(root);
	std::ifstream(root + "/proc/uptime") >> machine.up_s;
	machine.clocksource = read_line(root + "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	machine.hypervisor = read_hypervisor(root);
	machine.rt_runtime_us = read_integer<int64_t>(root + "/proc/sys/kernel/sched_rt_runtime_us").value_or(-1);
	machine.rt_period_us = read_integer<int64_t>(root + "/proc/sys/kernel/sched_rt_period_us").value_or(0);
	machine.has_rt_groups = fs::exists(root + "/sys/fs/cgroup/cpu/cpu.rt_runtime_us");
	machine.fair_servers = read_fair_servers(root, machine.online());
	machine.has_fair_server = !machine.fair_servers.empty() || is_from_6_12(root);
	return machine;
}

} // namespace icepath::cpuset
