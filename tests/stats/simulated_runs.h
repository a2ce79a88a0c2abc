// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs of machines whose truth is known.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace icepath::stats {

using Blocks = std::vector<std::vector<uint64_t>>;

// Of how many simulated runs a coverage is counted: `usual`, or what the environment variable ICEPATH_STATS_RUNS says.
int runs_to_simulate(int usual);

// Messages go on as their neighbours did, and blocks differ a little. Now and then a stall delays some messages in a row.
struct StallingMachine {
	std::string name;
	double stalls_per_block = 0;
	size_t stalled = 20; // messages of a stall
	double magnitude_spread = 0.5; // of stalls, about 1 ms, on the logarithm
	bool falling = true; // the first message waits for all of the stall, the last hardly; else about alike
	size_t messages = 1000; // of a block
	double between = 0.05; // blocks, on the logarithm

	std::vector<uint64_t> block(std::mt19937_64 &random) const;
	Blocks run(std::mt19937_64 &random, size_t blocks) const;
	double true_p99_9() const; // of three million messages
};

} // namespace icepath::stats
