// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what the user asked for to the cells of a run. Pure, but for the list of targets, which the caller brings.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "icepath/plugin.h"
#include "profiler/model/cell.h"
#include "profiler/targets/target.h"

namespace icepath::plan {

using targets::Target;

// Of each factor those levels that are measured; of a pattern that doesn't have it the neutral one alone.
class WantedLevels {
public:
	WantedLevels() // the usual ones
	{
		for (size_t i = 0; i < model::kFactorCount; ++i)
			values_[i].assign(model::kFactors[i].usual.begin(), model::kFactors[i].usual.end());
	}
	std::vector<uint64_t> &operator[](uint64_t model::Levels::*level)
	{
		return values_[static_cast<size_t>(std::ranges::find(model::kFactors, level, &model::Factor::level) -
										   model::kFactors)];
	}
	const std::vector<uint64_t> &operator[](uint64_t model::Levels::*level) const
	{
		return const_cast<WantedLevels &>(*this)[level];
	}
	// Each with each of the others, each once.
	std::vector<model::Levels> combinations(model::Pattern pattern) const;

private:
	std::array<std::vector<uint64_t>, model::kFactorCount> values_; // beside kFactors
};

struct Wishes {
	// Names; what stands before "/" in names, for all of them; and words: "all", every one that works here; "all-transports" and "all-installed", of the kernel and of middleware.
	// Empty: the usual ones.
	std::vector<std::string> targets;
	std::vector<model::Pattern> patterns; // at least one
	std::vector<uint64_t> sizes; // empty: 64 and 4096 for pingpong, 64 for the others
	std::vector<model::Wait> waits = {model::Wait::Block};
	std::vector<model::Between> between = {model::Between::Processes};
	std::string no_threads; // why threads of one process can't be told apart here; empty: they can
	double rate_hz = 2000; // oneway, fanout, all senders of fanin together
	uint64_t sparse_period_ns = 200'000'000; // sparse: from one message to the next
	model::RateLimits limits; // max-rate
	// By icepath_qos_policy: each value with each of the others, on targets that have the policy. Empty: the adapter's choice.
	std::array<std::vector<uint64_t>, ICEPATH_QOS_POLICIES> qos;
	WantedLevels levels;
	bool kept_awake =
		false; // CPUs, in blocks of all cells but sparse ones, whose messages shall find them as the machine has them idle
};

struct Plan {
	std::vector<model::Cell> cells;
	std::vector<std::string> plugin_of_cell; // path, beside cells
	std::vector<std::string> missing; // targets that were named and don't work here
	std::vector<std::string> notices; // combinations that were left out or measured otherwise, and why; each once
};

// Measures once what is asked for twice. Throws Failure(Usage) where a target that was named doesn't exist, or a size doesn't fit one that was named.
// `cpus`: the sender's, the receiver's, then more of those of whom there are several, who get theirs in turn; at least two.
Plan make(const Wishes &wishes, const std::vector<Target> &targets, const std::vector<uint32_t> &cpus);

} // namespace icepath::plan
