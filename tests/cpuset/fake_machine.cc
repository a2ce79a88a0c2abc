// SPDX-License-Identifier: Apache-2.0
#include "tests/cpuset/fake_machine.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace icepath::cpuset {
namespace {

const std::string kCpus = "/sys/devices/system/cpu/";

void make_base(FakeMachine &machine, const std::string &online)
{
	machine.write(kCpus + "online", online);
	machine.write(kCpus + "present", online);
	machine.write(kCpus + "isolated", "");
	machine.write(kCpus + "nohz_full", " (null)");
	machine.write("/proc/sys/kernel/sched_rt_runtime_us", "950000");
	machine.write("/proc/sys/kernel/sched_rt_period_us", "1000000");
	machine.write("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme sse2 constant_tsc");
	machine.write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc");
}

} // namespace

FakeMachine::FakeMachine(const std::string &folder)
{
	const std::filesystem::path within =
		folder.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(folder);
	std::string name = (within / "icepath-cpuset-XXXXXX").string();
	if (!mkdtemp(name.data()))
		std::abort();
	root_ = name;
}

FakeMachine::~FakeMachine()
{
	std::error_code ignored;
	std::filesystem::remove_all(root_, ignored);
}

void FakeMachine::write(const std::string &path, const std::string &content)
{
	const std::filesystem::path file = root_ + path;
	std::filesystem::create_directories(file.parent_path());
	std::ofstream(file) << content << '\n';
}

void FakeMachine::cpu(uint32_t number, uint32_t package, const std::string &siblings, const std::string &llc)
{
	const std::string path = kCpus + "cpu" + std::to_string(number);
	write(path + "/topology/physical_package_id", std::to_string(package));
	write(path + "/topology/thread_siblings_list", siblings);
	const struct {
		const char *level, *type;
		const std::string &cpus;
	} caches[] = {
		{"1", "Data", siblings}, {"1", "Instruction", siblings}, {"2", "Unified", siblings}, {"3", "Unified", llc}};
	int index = 0;
	for (const auto &cache : caches) {
		const std::string folder = path + "/cache/index" + std::to_string(index++);
		write(folder + "/level", cache.level);
		write(folder + "/type", cache.type);
		write(folder + "/shared_cpu_list", cache.cpus);
	}
	write(path + "/cache/uevent", "");
}

void FakeMachine::irq(uint32_t number, const std::string &name, const std::string &effective_cpus)
{
	const std::string path = "/proc/irq/" + std::to_string(number);
	write(path + "/smp_affinity_list", "0-7");
	write(path + "/effective_affinity_list", effective_cpus);
	if (!name.empty())
		std::filesystem::create_directories(root_ + path + "/" + name);
}

Machine FakeMachine::read() const
{
	std::ifstream file(root_ + kCpus + "online");
	std::string online;
	std::getline(file, online);
	const CpuList all = parse_cpulist(online).value_or(CpuList{});
	return read({all, all});
}

Machine FakeMachine::read(const Permission &permission) const { return read_machine(permission, root_); }

void make_laptop(FakeMachine &machine)
{
	make_base(machine, "0-7");
	for (uint32_t number = 0; number < 8; ++number) {
		const std::string low = std::to_string(number % 4), high = std::to_string(number % 4 + 4);
		machine.cpu(number, 0, low + "," + high, "0-7");
		const std::string path = kCpus + "cpu" + std::to_string(number);
		machine.write(path + "/cpufreq/scaling_governor", "powersave");
		machine.write(path + "/cpuidle/state0/latency", "0");
		machine.write(path + "/cpuidle/state1/latency", "2");
		machine.write(path + "/cpuidle/state2/latency", "890");
	}
	machine.irq(16, "i801_smbus", "1");
	machine.irq(130, "nvme0q2", "2");
	machine.irq(7, "", "1");
}

void make_server(FakeMachine &machine)
{
	make_base(machine, "0-7");
	machine.write(kCpus + "isolated", "2-3,6-7");
	machine.write(kCpus + "nohz_full", "2-3,6-7");
	for (uint32_t number = 0; number < 8; ++number) {
		machine.cpu(number, number / 4, std::to_string(number), number < 4 ? "0-3" : "4-7");
		machine.write(kCpus + "cpu" + std::to_string(number) + "/cpufreq/scaling_governor", "performance");
	}
	machine.write("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	machine.irq(40, "eth0-rx-0", "0");
}

void make_virtual_machine(FakeMachine &machine)
{
	make_base(machine, "0-1");
	machine.cpu(0, 0, "0", "0-1");
	machine.cpu(1, 0, "1", "0-1");
	machine.write("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme sse2 hypervisor lahf_lm");
	machine.irq(24, "virtio0", "1");
}

void make_single(FakeMachine &machine)
{
	make_base(machine, "0");
	machine.cpu(0, 0, "0", "0");
}

} // namespace icepath::cpuset
