// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine/wakes.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "icepath/plugin.h"

namespace icepath::machine {
namespace {

constexpr uint64_t kSleepNs = 1'000'000; // long enough for a CPU to halt
constexpr size_t kSamples = 45;

std::optional<model::CpuWake> wake_of(uint32_t cpu)
{
	if (!stay_on(cpu))
		return std::nullopt;
	prctl(PR_SET_TIMERSLACK, 1UL); // of this thread; the default lets a timer expire up to 50 us late (timer_slack_ns)
	std::vector<uint64_t> late;
	const uint64_t give_up_ns = icepath_now_ns() + kWakesNs;
	while (late.size() < kSamples && icepath_now_ns() < give_up_ns) {
		const uint64_t due_ns = icepath_now_ns() + kSleepNs;
		const timespec due{static_cast<time_t>(due_ns / 1'000'000'000), static_cast<long>(due_ns % 1'000'000'000)};
		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == 0)
			late.push_back(icepath_now_ns() - due_ns);
	}
	if (late.empty())
		return std::nullopt;
	std::ranges::sort(late);
	return model::CpuWake{cpu, late[late.size() / 2], late[late.size() * 9 / 10]};
}

} // namespace

bool stay_on(uint32_t cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	if (!set)
		return false;
	CPU_ZERO_S(CPU_ALLOC_SIZE(cpu + 1), set);
	CPU_SET_S(cpu, CPU_ALLOC_SIZE(cpu + 1), set);
	const bool stays = sched_setaffinity(0, CPU_ALLOC_SIZE(cpu + 1), set) == 0;
	CPU_FREE(set);
	return stays;
}

std::vector<model::CpuWake> measure_wakes(const std::vector<uint32_t> &cpus)
{
	const std::set<uint32_t> each(cpus.begin(), cpus.end());
	std::vector<std::optional<model::CpuWake>> found(each.size());
	std::vector<std::thread> threads;
	size_t next = 0;
	for (const uint32_t cpu : each)
		threads.emplace_back([&one = found[next++], cpu] { one = wake_of(cpu); });
	for (std::thread &thread : threads)
		thread.join();
	std::vector<model::CpuWake> wakes;
	for (const auto &one : found)
		if (one)
			wakes.push_back(*one);
	return wakes;
}

std::optional<uint64_t> steal_ns(const std::vector<uint32_t> &cpus)
{
	std::ifstream file("/proc/stat");
	const auto ticks_a_second = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
	std::optional<uint64_t> sum;
	for (std::string line; std::getline(file, line);)
		for (const uint32_t cpu : std::set<uint32_t>(cpus.begin(), cpus.end())) {
			const std::string name = fmt::format("cpu{} ", cpu);
			if (!line.starts_with(name))
				continue;
			std::istringstream fields(line.substr(name.size()));
			uint64_t ticks = 0; // user nice system idle iowait irq softirq steal: proc_stat(5)
			for (int field = 0; field < 8; field++)
				fields >> ticks;
			if (fields)
				sum = sum.value_or(0) + ticks * (1'000'000'000 / ticks_a_second);
		}
	return sum;
}

} // namespace icepath::machine
