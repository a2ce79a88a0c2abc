// SPDX-License-Identifier: Apache-2.0
#pragma once
// Comparisons of icepath's cells with others' tools: ping-pongs between the same two CPUs, with the same wait, in
// turns. A round has a segment of each; icepath's comes first in one round and last in the next.
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/rivals.h"

namespace icepath::bench {

struct Rival {
	std::string name, what;
	double aim;
	std::function<RivalReport()> measure;
	std::string version{};
	std::vector<std::pair<double, double>> pairs{}; // round trips of the rival and of icepath, ns
};

// A cell of icepath and what it is measured against.
struct Contest {
	std::string target;
	model::Wait wait;
	uint32_t blocks, trips; // of a segment, beside a first block that warms up; of a block
	std::vector<Rival> rivals;
	bool kept_awake = false; // cpuset::KeptAwake, for icepath and its rivals alike
	decltype(plan::Wishes::qos) qos{};
	uint64_t bytes = kPayloadBytes;
	bool of_means = false; // instead of medians: the rival tells no other
	// A guest's machine changes now and then: a wake takes three times as long for a while. So icepath's segment comes
	// before and after those of the rivals, and a round counts only if both took as long, by kSameState.
	bool in_one_state = false;
	uint32_t left_out = 0; // rounds
};

inline constexpr double kSameState = 1.3;

// Measures the contest once more. `middleware`: as of open_ping_pong(). Throws Failure.
void run_round(Contest &contest, uint32_t round, const std::vector<targets::Target> &targets, CpuPair cpus,
			   run::Middleware *middleware = nullptr);

// One comparison for the file of results; also prints it.
nlohmann::ordered_json describe(const Contest &contest, const Rival &rival);

CpuPair pair_of(const std::string &cpus); // "SENDER,RECEIVER"; the best pair if empty

} // namespace icepath::bench
