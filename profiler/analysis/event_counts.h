// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell's counters over its blocks.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/model/counters.h"
#include "profiler/model/graph.h"

namespace icepath::analysis {

struct CounterTotal {
	double counted = 0; // scaled block by block; exact if nothing was multiplexed
	uint64_t messages = 0; // sent by either side in the blocks in which it was counted; 0: in none
	uint64_t enabled_ns = 0, running_ns = 0;
	int32_t absence = model::kNotAsked; // if messages == 0: see model::absence()

	std::optional<double> per_message() const;
	// Below 1 if it shared its hardware counter with others.
	std::optional<double> running_share() const;
};

struct SideCounters {
	std::array<CounterTotal, std::size(model::kCounterFields)> totals; // in the order of kCounterFields
	bool user_only = false;

	const CounterTotal &of(model::Count model::Counters::*count) const;
	bool has_hardware() const;
};

// Nothing unless all `sides` have both counts. A single side is allowed.
std::optional<double> instructions_per_cycle(std::initializer_list<const SideCounters *> sides);

struct CounterTotals {
	std::array<SideCounters, 2> ends; // the sides that begin, and those that receive
	bool asked = false; // whether any block was asked to count

	// `messages`: sent in all flows.
	void add(const model::Block &block, const model::Graph &graph, uint64_t messages);

private:
	void add_to(SideCounters &end, const std::vector<const model::BlockSide *> &sides, uint64_t messages);
};

} // namespace icepath::analysis
