// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program that icepath attaches to, and what it wrote of it.
#include <sys/types.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "profiler/attach/watched_run.h"
#include "profiler/model/window.h"

namespace icepath::attach {

// What the program and its test share.
struct Shared {
	std::atomic<uint32_t> is_ready{0}, goes{0}; // set by the program, and by the test once it is watched
	std::atomic<uint32_t> tids[8] = {};
	std::atomic<uint64_t> counts[8] = {};
};

// Runs in a child until the destructor kills it, or it returns.
class Program {
public:
	explicit Program(const std::function<void(Shared &)> &main);
	~Program();
	Program(const Program &) = delete;
	Program &operator=(const Program &) = delete;
	pid_t pid() const { return pid_; }
	Shared &shared() { return *shared_; }
	void await_ready() const;

private:
	Shared *shared_;
	pid_t pid_ = -1;
};

void await(const std::atomic<uint32_t> &word); // sleeps until it isn't 0

struct Watched {
	Outcome outcome;
	model::Detached detached;
	std::vector<model::Window> windows; // as the run directory has them
	std::vector<icepath_record> calls; // of all windows, in order of their ends
};

// Watches the processes until they end, or for that time. `begun`: called once, while they are watched.
Watched watch_programs(const std::vector<pid_t> &processes, double seconds, const std::function<void()> &begun,
					   uint32_t records_per_ring = 1u << 17);

} // namespace icepath::attach
