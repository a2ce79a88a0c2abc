// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the user's wishes to the cells of a run. Pure: the caller passes the list of targets.
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

// For each factor, the levels that are measured. Patterns without the factor have the neutral level only.
class WantedLevels {
public:
	WantedLevels() // starts with the usual levels
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
	// The Cartesian product of the levels, without duplicates.
	std::vector<model::Levels> combinations(model::Pattern pattern) const;

private:
	std::array<std::vector<uint64_t>, model::kFactorCount> values_; // parallel to kFactors
};

struct Wishes {
	// Names; a prefix before "/", for all names that have it; or "all", "all-transports" and "all-installed": every
	// target that works here, the kernel's, and middleware's. Empty: the usual ones.
	std::vector<std::string> targets;
	std::vector<std::string> not_loaded; // why plug-ins that are there have no targets, one of which may be meant
	std::vector<model::Pattern> patterns; // at least one
	// Of patterns other than pingpong, measure one target of each kind only: a default run tells no more apart.
	bool one_of_each_kind = false;
	std::vector<uint64_t> sizes; // empty: 64 and 4096 for patterns with answers, 64 for the others
	std::vector<model::Wait> waits = {model::Wait::Block};
	std::vector<model::Between> between = {model::Between::Processes};
	std::string no_threads; // why sides can't be threads of one process here; empty: they can
	double rate_hz = 2000; // oneway, fanout, all senders of fanin together
	uint64_t sparse_period_ns = 200'000'000; // sparse: from one message to the next
	model::RateLimits limits; // max-rate
	// By icepath_qos_policy: all combinations, on targets that have the policies. Empty: the adapter's choice.
	std::array<std::vector<uint64_t>, ICEPATH_QOS_POLICIES> qos;
	WantedLevels levels;
	// Keep CPUs awake in all blocks but sparse ones, whose messages must find the machine's own idle states.
	bool kept_awake = false;
};

struct Plan {
	std::vector<model::Cell> cells;
	std::vector<std::string> plugin_of_cell; // path, parallel to cells
	std::vector<std::string> missing; // named targets that don't work here
	std::vector<std::string> notices; // combinations left out or measured otherwise, and why; each once
};

// Repeated wishes are measured once. Throws Failure(Usage) if a named target doesn't exist, or a size doesn't fit a
// named target. `cpus`: at least the sender's and the receiver's; further receivers or senders get the rest in turn.
Plan make(const Wishes &wishes, const std::vector<Target> &targets, const std::vector<uint32_t> &cpus);

} // namespace icepath::plan
