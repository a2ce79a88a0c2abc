// SPDX-License-Identifier: Apache-2.0
#pragma once
// What took time from some messages more than from others: tasks, interrupts and limits of control groups.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/breakdown.h"

namespace icepath::explain {

// Of messages A, against messages B.
struct Cause {
	std::string name;
	path::Culprit::Kind kind = path::Culprit::Kind::Task;
	// Of an interrupt, as of path::Culprit.
	uint8_t interrupt = 0;
	uint32_t vector = 0;
	analysis::Owner owner = analysis::Owner::None; // of a thread of the cell
	analysis::Origin origin = analysis::Origin::Unknown;
	model::Layer layer = model::Layer::Runqueue;
	bool ended_sleep = false; // it took no CPU from anybody
	bool is_own_thread() const { return origin == analysis::Origin::OwnThread; }
	uint64_t messages = 0; // of A, from which it took time
	double share = 0, other_share = 0; // of A's messages, and of B's
	double when_there_ns = 0; // mean over `messages`
	double growth_ns = 0; // mean over all of A's messages, less that over B's
	std::optional<stats::Interval> growth_interval; // of growth_ns
	std::optional<stats::Interval> more_often; // of share - other_share
	// The same of all causes of its kind and origin together: where many tasks take turns, it may be told that tasks of
	// others had the CPU, and not which.
	bool is_of_told_kind = false;
	// All causes of its kind and origin together take longer from A's messages, told by an interval, by so much.
	std::optional<double> kind_growth_ns;
	// By that alone its kind carries the whole difference: see explain_tail().
	bool is_of_carrying_kind = false;
	bool counts() const { return is_told() || is_of_told_kind || is_of_carrying_kind; }
	// Whether it takes longer from A's messages than from B's, and from more of them or from practically all of both:
	// by intervals over the blocks. What is there by chance is no cause.
	bool is_told() const;
	// How many times as often it is in A as in B; nothing: never in B.
	std::optional<double> lift() const { return other_share > 0 ? std::optional(share / other_share) : std::nullopt; }
	// Whether it is something that can be looked for: not the idle CPU, and not what no record shows.
	bool has_name() const
	{
		return kind == path::Culprit::Kind::Task || kind == path::Culprit::Kind::Interrupt ||
			   kind == path::Culprit::Kind::Throttled;
	}
};

// Of messages with their layers. `culprits` are kept by block.
struct CulpritsOf {
	const analysis::Culprits &culprits;
	const analysis::Breakdown &layers;
};

// Parts of a layer together. The greatest growth first.
std::vector<Cause> causes_of(const CulpritsOf &a, const CulpritsOf &b);

} // namespace icepath::explain
