// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine/changes.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <utility>

#include "cpuset/cpulist.h"
#include "profiler/machine/host.h"

namespace icepath::machine {
namespace {

uint64_t read_clock(clockid_t clock)
{
	timespec now{};
	clock_gettime(clock, &now);
	return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

enum class Place : uint8_t { There, Elsewhere, Anywhere, Gone };

Place place_of(pid_t thread, uint32_t cpu)
{
	constexpr size_t kMostCpus = cpuset::kMaxCpu + 1;
	const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t *)> set(CPU_ALLOC(kMostCpus),
																[](cpu_set_t *one) { CPU_FREE(one); });
	const size_t bytes = CPU_ALLOC_SIZE(kMostCpus);
	CPU_ZERO_S(bytes, set.get());
	if (sched_getaffinity(thread, bytes, set.get()))
		return Place::Gone;
	if (!CPU_ISSET_S(cpu, bytes, set.get()))
		return Place::Elsewhere;
	return CPU_COUNT_S(bytes, set.get()) == 1 ? Place::There : Place::Anywhere;
}

} // namespace

// CLOCK_BOOTTIME runs while the machine sleeps, CLOCK_MONOTONIC doesn't. Takes the least of three readings: time that
// passes between the two clock readings only adds to the difference.
uint64_t slept_ns()
{
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < 3; i++) {
		const uint64_t awake_ns = read_clock(CLOCK_MONOTONIC);
		least = std::min(least, read_clock(CLOCK_BOOTTIME) - awake_ns);
	}
	return least;
}

Changes::Changes(std::string root, std::function<uint64_t()> slept)
	: root_(std::move(root)), slept_(std::move(slept)), clock_source_(clock_source()), slept_ns_(slept_())
{}

std::string Changes::clock_source() const
{
	return first_line(root_ + "/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

// True if the list can't be read.
bool Changes::is_online(uint32_t cpu) const
{
	const auto online = cpuset::parse_cpulist(first_line(root_ + "/sys/devices/system/cpu/online"));
	return !online || online->empty() || std::ranges::count(*online, cpu) > 0;
}

std::vector<std::string> Changes::look()
{
	std::vector<std::string> changes;
	if (const std::string before = std::exchange(clock_source_, clock_source()); before != clock_source_)
		changes.push_back(fmt::format("the clock source changed from {} to {}, so stamps take another time: figures "
									  "mix what was measured before and after",
									  before, clock_source_));
	const uint64_t before_ns = std::exchange(slept_ns_, slept_());
	if (slept_ns_ > before_ns + kLeastSleepNs)
		changes.push_back(
			fmt::format("the machine slept for {:.1f} s", static_cast<double>(slept_ns_ - before_ns) / 1e9));
	return changes;
}

std::optional<std::string> Changes::lost_pin(const std::vector<model::WindowThread> &threads) const
{
	for (const model::WindowThread &thread : threads) {
		const Place place = place_of(static_cast<pid_t>(thread.tid), thread.cpu);
		if (place == Place::There || place == Place::Gone)
			continue;
		const std::string why = !is_online(thread.cpu)      ? "the CPU is offline"
								: place == Place::Elsewhere ? "its cpuset lacks the CPU, or somebody moved it"
															: "somebody has widened its affinity";
		return fmt::format("{} is no longer pinned to CPU {}: {}", thread.name, thread.cpu, why);
	}
	return std::nullopt;
}

} // namespace icepath::machine
