// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs of machines with a known truth.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace icepath::stats {

using Blocks = std::vector<std::vector<uint64_t>>;

// Number of simulated runs for a coverage: ICEPATH_STATS_RUNS of the environment, or `usual`.
int runs_to_simulate(int usual);

// Messages resemble their neighbours, and blocks differ a little. Occasionally a stall delays consecutive messages.
struct StallingMachine {
	std::string name;
	double stalls_per_block = 0;
	size_t stalled = 20; // messages of a stall
	double magnitude_spread = 0.5; // spread of stalls of about 1 ms, on the logarithm
	bool falling = true; // the first message waits for the whole stall, the last one hardly; false: all about equally
	size_t messages = 1000; // of a block
	double between = 0.05; // spread of blocks, on the logarithm

	std::vector<uint64_t> block(std::mt19937_64 &random) const;
	Blocks run(std::mt19937_64 &random, size_t blocks) const;
	double true_p99_9() const; // of three million messages
};

} // namespace icepath::stats
