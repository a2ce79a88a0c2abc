// SPDX-License-Identifier: Apache-2.0
// Files of /proc and /sys with any text in them: it is used or ignored, and CPUs are chosen among those online. The
// input has a file's path, its text and a NUL, for each file.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "cpuset/isolation.h"
#include "profiler/capture/untraced_interrupts.h"
#include "profiler/machine/throttling.h"
#include "tests/cpuset/fake_machine.h"

namespace {

using namespace icepath;

// In the order of the input.
constexpr const char *kFiles[] = {
	"/sys/devices/system/cpu/online",
	"/proc/self/cgroup",
	"/proc/self/mountinfo",
	"/proc/interrupts",
	"/sys/devices/system/cpu/present",
	"/sys/devices/system/cpu/isolated",
	"/sys/devices/system/cpu/nohz_full",
	"/sys/devices/system/cpu/cpu0/topology/physical_package_id",
	"/sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
	"/sys/devices/system/cpu/cpu0/cpu_capacity",
	"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
	"/sys/devices/system/cpu/cpu0/cpuidle/state0/latency",
	"/sys/devices/system/cpu/cpu0/cache/index0/level",
	"/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list",
	"/sys/fs/cgroup/cpuset.cpus.isolated",
	"/sys/fs/cgroup/part/cpuset.cpus.partition",
	"/sys/fs/cgroup/part/cpuset.cpus.effective",
	"/proc/irq/7/eth0/effective",
	"/proc/irq/7/effective_affinity_list",
	"/proc/cpuinfo",
	"/proc/sys/kernel/sched_rt_runtime_us",
	"/proc/sys/kernel/sched_rt_period_us",
	"/sys/devices/system/clocksource/clocksource0/current_clocksource",
};

void must(bool holds)
{
	if (!holds)
		std::abort();
}

void look_at_machine(const cpuset::FakeMachine &files, const cpuset::CpuList &online)
{
	const cpuset::Machine machine = files.read({online, online});
	must(machine.online() == online);
	const cpuset::Choice choice = cpuset::choose_pair(machine);
	for (const uint32_t cpu : cpuset::measuring_cpus(choice))
		must(cpuset::contains(online, cpu));
	must(!cpuset::look_at_isolation(machine, choice).items.empty());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static cpuset::FakeMachine files;
	static std::map<std::string, std::string> texts; // the files' contents: writing takes longer than reading
	const uint8_t *const end = data + size;
	for (const char *file : kFiles) {
		const uint8_t *const stop = std::find(data, end, 0);
		const std::string text(data, stop);
		if (const auto [there, is_new] = texts.try_emplace(file, text); is_new || there->second != text) {
			there->second = text;
			files.write(file, text);
		}
		data = stop == end ? end : stop + 1;
	}

	const auto online = cpuset::parse_cpulist(texts["/sys/devices/system/cpu/online"].substr(
		0, texts["/sys/devices/system/cpu/online"].find('\n'))); // the file's first line
	if (online)
		must(cpuset::parse_cpulist(cpuset::format_cpulist(*online)) == online);
	constexpr size_t kMostCpus = 64; // each is a dozen files to look for
	if (online && !online->empty() && online->size() <= kMostCpus)
		look_at_machine(files, *online);
	for (const auto &file : machine::throttling_files(texts["/proc/self/cgroup"], texts["/proc/self/mountinfo"]))
		must(file.filename() == "cpu.stat" && file.string().find("/../") == std::string::npos);
	const std::vector<uint32_t> cpus = {0, 1};
	capture::counted_since({}, capture::untraced_interrupts(texts["/proc/interrupts"], cpus));
	return 0;
}
