// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/clock.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "cpuset/affinity.h"
#include "icepath/plugin.h"

namespace icepath::doctor {
namespace {

constexpr uint64_t kRounds = 20000;
constexpr uint64_t kGiveUpNs = 500'000'000;

// Two threads take turns; the second leaves its clock reading for the first.
struct Table {
	alignas(64) std::atomic<uint64_t> turn{0};
	alignas(64) std::array<std::atomic<uint64_t>, 2> stamp{};
	std::atomic<bool> stop{false};
};

bool await(const Table &table, uint64_t turn, uint64_t give_up_ns)
{
	while (table.turn.load(std::memory_order_acquire) != turn)
		if (table.stop.load(std::memory_order_relaxed) || icepath_now_ns() > give_up_ns)
			return false;
	return true;
}

uint64_t cost_of_reading()
{
	std::vector<uint64_t> costs(1001);
	for (uint64_t &cost : costs) {
		const uint64_t begin = icepath_now_ns();
		for (int i = 0; i < 8; i++)
			(void)icepath_now_ns();
		cost = (icepath_now_ns() - begin) / 9;
	}
	std::nth_element(costs.begin(), costs.begin() + 500, costs.end());
	return costs[500];
}

} // namespace

ClockTrial try_clock(uint32_t first_cpu, uint32_t second_cpu)
{
	ClockTrial trial;
	std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> trial.source;
	trial.read_ns = cost_of_reading();
	if (first_cpu == second_cpu)
		return trial;
	Table table;
	const uint64_t give_up_ns = icepath_now_ns() + kGiveUpNs;
	std::thread echo([&] {
		if (cpuset::pin(0, second_cpu))
			table.stop = true;
		for (uint64_t round = 0; round < kRounds && await(table, 2 * round + 1, give_up_ns); round++) {
			table.stamp[1].store(icepath_now_ns(), std::memory_order_relaxed);
			table.turn.store(2 * round + 2, std::memory_order_release);
		}
		table.stop = true;
	});
	int64_t shortest = INT64_MAX;
	std::thread caller([&] {
		if (cpuset::pin(0, first_cpu))
			return;
		for (uint64_t round = 0; round < kRounds; round++) {
			const uint64_t sent = icepath_now_ns();
			table.turn.store(2 * round + 1, std::memory_order_release);
			if (!await(table, 2 * round + 2, give_up_ns))
				break;
			const uint64_t back = icepath_now_ns();
			const uint64_t there = table.stamp[1].load(std::memory_order_relaxed);
			trial.backward += there < sent || back < there;
			const auto trip = static_cast<int64_t>(back - sent);
			if (trip < shortest) {
				shortest = trip;
				trial.error_ns = trip / 2;
				trial.offset_ns = (static_cast<int64_t>(there - sent) + static_cast<int64_t>(there - back)) / 2;
			}
		}
	});
	caller.join();
	table.stop = true;
	echo.join();
	return trial;
}

} // namespace icepath::doctor
