// SPDX-License-Identifier: Apache-2.0
#include "tests/stats/simulated_runs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "profiler/stats/percentile.h"

namespace icepath::stats {

int runs_to_simulate(int usual)
{
	const char *given = std::getenv("ICEPATH_STATS_RUNS");
	return given ? std::atoi(given) : usual;
}

std::vector<uint64_t> StallingMachine::block(std::mt19937_64 &random) const
{
	std::normal_distribution<double> normal;
	const double shift = between * normal(random);
	double state = normal(random);
	std::vector<double> times(messages);
	for (double &time : times) {
		state = 0.9 * state + std::sqrt(1 - 0.81) * normal(random);
		time = 8000 * std::exp(shift + 0.2 * state);
	}
	for (int stalls = std::poisson_distribution<int>(stalls_per_block)(random); stalls > 0; --stalls) {
		const double magnitude = 1e6 * std::exp(magnitude_spread * normal(random));
		const size_t first = random() % messages;
		for (size_t i = 0; i < stalled && first + i < messages; ++i)
			times[first + i] += magnitude * (falling ? static_cast<double>(stalled - i) / static_cast<double>(stalled)
													 : std::exp(0.3 * normal(random)));
	}
	std::vector<uint64_t> values;
	for (const double time : times)
		values.push_back(static_cast<uint64_t>(std::llround(time)));
	return values;
}

Blocks StallingMachine::run(std::mt19937_64 &random, size_t blocks) const
{
	Blocks run;
	for (size_t i = 0; i < blocks; ++i)
		run.push_back(block(random));
	return run;
}

double StallingMachine::true_p99_9() const
{
	std::mt19937_64 random(29);
	std::vector<uint64_t> all;
	while (all.size() < 3'000'000) {
		const std::vector<uint64_t> more = block(random);
		all.insert(all.end(), more.begin(), more.end());
	}
	const auto at = all.begin() + static_cast<ptrdiff_t>(rank(all.size(), kP99_9) - 1);
	std::nth_element(all.begin(), at, all.end());
	return static_cast<double>(*at);
}

} // namespace icepath::stats
