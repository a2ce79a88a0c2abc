// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens a run's cells, and opens them anew: the luck of a process (addresses, page colours, hash seeds, which mode a pair of
// threads falls into) is fixed for as long as it lives, so a run that kept its processes would know its own luck only.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/plan/plan.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/run/live_cell.h"
#include "profiler/run/middleware.h"
#include "profiler/run/slots_view.h"

namespace icepath::run {

// What became of the openings of one cell.
struct Openings {
	uint32_t done = 0, failed = 0;
	uint64_t took_ns = 0; // the last one that was done, with ending the processes before it; daemons aside
	std::string why_failed; // the last one that failed
};

class CellOpener {
public:
	// Blocks of a cell that seeks its highest rate have what that takes, the others at most `messages` counted ones. The
	// references are the caller's. `locks_memory`: of workers.
	CellOpener(const plan::Plan &plan, uint32_t messages, const SlotsView &slots, privilege::Helper &helper,
			   Middleware &middleware, bool locks_memory)
		: plan_(plan), messages_(messages), slots_(slots), helper_(helper), middleware_(middleware),
		  locks_memory_(locks_memory), openings_(plan.cells.size()), families_(plan.cells.size())
	{}

	// In fresh processes, once those of `before`, if any, have left. What fails at once and may pass is tried again, once.
	// Throws Failure; WorkerFailed where it is the cell's own.
	std::unique_ptr<LiveCell> open(size_t cell, std::unique_ptr<LiveCell> before = nullptr);

	const Openings &of(size_t cell) const { return openings_[cell]; }

private:
	std::unique_ptr<LiveCell> try_to_open(size_t cell, const Surroundings &around);

	const plan::Plan &plan_;
	const uint32_t messages_;
	const SlotsView &slots_;
	privilege::Helper &helper_;
	Middleware &middleware_;
	const bool locks_memory_;
	std::vector<Openings> openings_; // by cell
	std::vector<std::vector<uint32_t>> families_; // by cell: LiveCell::families() of the opening before
	uint32_t number_ = 0; // of all cells' openings
};

// A block that nobody keeps, after which fresh processes are warm: caches, page tables, connections. Sparse cells need none: their
// messages find everything cold anyway.
BlockWish first_block(const model::Cell &cell, uint64_t number);

} // namespace icepath::run
