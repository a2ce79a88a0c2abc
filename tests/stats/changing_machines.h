// SPDX-License-Identifier: Apache-2.0
#pragma once
// Machines that change their state, whose openings have luck of their own.
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace icepath::stats {

// What a machine does to blocks: a factor of all cells, by round.
struct Machine {
	const char *name;
	std::function<std::vector<double>(std::mt19937_64 &, uint32_t rounds)> states;
	double luck; // of each opening of each cell: the standard deviation of its factor's logarithm
};

inline std::vector<double> steady(std::mt19937_64 &, uint32_t rounds) { return std::vector<double>(rounds, 1); }

inline std::vector<double> drifting(std::mt19937_64 &random, uint32_t rounds)
{
	std::normal_distribution<double> step(0, 0.1);
	std::vector<double> states(rounds);
	double log = 0;
	for (double &state : states)
		state = std::exp(log += step(random));
	return states;
}

// Half a minute in one of two states, one of which takes three times as long.
inline std::vector<double> switching(std::mt19937_64 &random, uint32_t rounds)
{
	std::vector<double> states(rounds);
	std::bernoulli_distribution switches(0.1);
	bool slow = false;
	for (double &state : states) {
		slow = slow != switches(random);
		state = slow ? 3 : 1;
	}
	return states;
}

inline const std::vector<Machine> kMachines = {{"steady", steady, 0},
											   {"steady, lucky openings", steady, 0.05},
											   {"drifting", drifting, 0.03},
											   {"switching", switching, 0.03}};

} // namespace icepath::stats
