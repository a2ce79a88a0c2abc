// SPDX-License-Identifier: Apache-2.0
#pragma once
// Work of a fixed amount: an interrupt in it makes it end later. A wait for a time would hide the interrupt.
#include <algorithm>
#include <cstdint>

#include "icepath/plugin.h"

namespace icepath::selftest {

// The environment variable with the workers' number of rounds: both cells of a pair must do the same work.
inline constexpr const char *kWorkVariable = "ICEPATH_SELFTEST_WORK";

inline void work(uint64_t rounds)
{
	uint64_t value = rounds;
	for (uint64_t i = 0; i < rounds; i++) {
		value = value * 6364136223846793005u + 1442695040888963407u;
		asm volatile("" : "+r"(value)); // each round depends on the previous one
	}
}

// The number of rounds that take about `ns` on this CPU.
inline uint64_t rounds_of_work(uint64_t ns)
{
	constexpr uint64_t kRounds = 20'000;
	uint64_t fastest_ns = UINT64_MAX;
	for (int i = 0; i < 20; i++) {
		const uint64_t begin_ns = icepath_now_ns();
		work(kRounds);
		fastest_ns = std::min(fastest_ns, icepath_now_ns() - begin_ns);
	}
	return ns * kRounds / std::max<uint64_t>(1, fastest_ns);
}

} // namespace icepath::selftest
