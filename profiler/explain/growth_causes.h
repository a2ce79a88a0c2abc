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
	model::Layer layer = model::Layer::Runqueue;
	bool is_own_thread = false; // that A's messages pass, such as a library's
	uint64_t messages = 0; // of A, from which it took time
	double share = 0, other_share = 0; // of A's messages, and of B's
	double when_there_ns = 0; // mean over `messages`
	double growth_ns = 0; // mean over all of A's messages, less that over B's
	// How many times as often it is in A as in B; nothing: never in B.
	std::optional<double> lift() const { return other_share > 0 ? std::optional(share / other_share) : std::nullopt; }
	// Whether it is something that can be looked for: not the idle CPU, and not what no record shows.
	bool has_name() const
	{
		return kind == path::Culprit::Kind::Task || kind == path::Culprit::Kind::Interrupt ||
			   kind == path::Culprit::Kind::Throttled;
	}
};

// Names of the threads that messages pass.
std::vector<std::string> own_threads(const analysis::Breakdown &layers);

// Parts of a layer together. The greatest growth first. `own`: names of the threads that A's messages pass.
std::vector<Cause> causes_of(const analysis::Culprits &a, uint64_t a_messages, const analysis::Culprits &b,
							 uint64_t b_messages, const std::vector<std::string> &own);

} // namespace icepath::explain
