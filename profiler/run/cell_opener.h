// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens a run's cells, each several times: the luck of a process (addresses, page colours, hash seeds, which mode a
// pair of threads falls into) is fixed for its lifetime, so a run that kept its processes would measure one draw only.
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

// The openings of one cell.
struct Openings {
	uint32_t done = 0, failed = 0;
	uint64_t took_ns = 0; // the last successful one, including the end of the processes before it, without daemons
	std::string why_failed; // the last failure
};

class CellOpener {
public:
	// `messages`: counted ones per block, at most; a cell that seeks its highest rate has as many as the search needs.
	// The references must outlive this. `locks_memory`: lock the memory of workers.
	CellOpener(const plan::Plan &plan, uint32_t messages, const SlotsView &slots, privilege::Helper &helper,
			   Middleware &middleware, bool locks_memory)
		: plan_(plan), messages_(messages), slots_(slots), helper_(helper), middleware_(middleware),
		  locks_memory_(locks_memory), openings_(plan.cells.size()), families_(plan.cells.size())
	{}

	// Starts fresh processes, after those of `before`, if any, have left. A quick failure that may pass is retried
	// once. Throws Failure; WorkerFailed if only this cell is affected.
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
	std::vector<std::vector<uint32_t>> families_; // by cell: LiveCell::families() of the previous opening
	uint32_t number_ = 0; // openings of all cells so far
};

// An uncounted block that warms fresh processes: caches, page tables, connections. Sparse cells need none: their
// messages always find everything cold.
BlockWish first_block(const model::Cell &cell, uint64_t number);

} // namespace icepath::run
