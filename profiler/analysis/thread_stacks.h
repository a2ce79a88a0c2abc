// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a cell's threads do all the time, on paths of messages or not: run, sleep, are woken. As for layers
// (functions.h), times are those of probed blocks without stacks, and stacks only divide them.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/analysis/functions.h"
#include "profiler/resolve/resolve.h"

namespace icepath::analysis {

// Who woke a thread: an interrupt; a task that isn't the run's and wasn't seen on its CPUs.
inline constexpr const char *kInterruptWakes = "[interrupt]", *kOtherTaskWakes = "[another task]";

// Threads of one name: each of a cell's openings has another thread of that name.
struct ThreadRow {
	std::string thread;
	double mean_ns = 0; // for each message of the cell
	uint64_t total_ns = 0;
	std::vector<Functions::Stack> stacks; // `samples` is a stack's weight; empty: none was taken
};

class ThreadStacks {
public:
	// Adds a probed block, sampled or not.
	void add(const resolve::ResolvedBlock &resolved);

	bool has_stacks() const { return has_stacks_; }
	std::vector<ThreadRow> running() const; // by samples
	// From going to sleep to being runnable again. By the stack with which the thread went to sleep, or by the task
	// that woke it and its stack; a stack's weight is the time of its sleeps.
	std::vector<ThreadRow> asleep() const, woken() const;

private:
	using Stacks = std::map<std::vector<std::string>, uint64_t>; // functions from the outermost one on, and weights
	struct Of {
		uint64_t running_ns = 0, asleep_ns = 0;
		Stacks running, asleep, woken;
	};
	void add_samples(const resolve::ResolvedBlock &resolved, const std::vector<std::vector<std::string>> &stacks);
	void add_sleeps(const resolve::ResolvedBlock &resolved, const std::vector<std::vector<std::string>> &stacks);
	std::vector<ThreadRow> rows(uint64_t Of::*ns, Stacks Of::*stacks) const;

	std::map<std::string, Of> threads_; // by name
	uint64_t messages_ = 0; // received, of blocks without stacks
	bool has_stacks_ = false;
};

} // namespace icepath::analysis
