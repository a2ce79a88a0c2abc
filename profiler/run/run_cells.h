// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's cells: opened, opened again in fresh processes, given up.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/plan/plan.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/privilege/slots_view.h"
#include "profiler/run/live_cell.h"
#include "profiler/run/middleware.h"
#include "profiler/run/rounds.h"
#include "profiler/run/run_record.h"

namespace icepath::run {

// Opens a run's cells, each several times: the luck of a process (addresses, page colours, hash seeds, which mode a
// pair of threads falls into) is fixed for its lifetime, so a run that kept its processes would measure one draw only.
//
// The openings of one cell.
struct Openings {
	uint32_t done = 0, failed = 0;
	uint64_t took_ns = 0; // the last successful one, including the end of the processes before it, without daemons
	std::string why_failed; // the last failure
};

class CellOpener {
public:
	// `messages`: counted ones per block, at most; a cell that seeks its highest rate has as many as the search needs.
	// The references must outlive this. `isolated`: see Surroundings.
	CellOpener(const plan::Plan &plan, uint32_t messages, const privilege::SlotsView &slots, privilege::Helper &helper,
			   Middleware &middleware, const Isolated &isolated)
		: plan_(plan), messages_(messages), slots_(slots), helper_(helper), middleware_(middleware),
		  isolated_(isolated), openings_(plan.cells.size()), families_(plan.cells.size())
	{}

	// Starts fresh processes, after those of `before`, if any, have left. A quick failure that may pass is retried
	// once. Throws Failure; WorkerFailed if only this cell is affected.
	std::unique_ptr<LiveCell> open(size_t cell, std::unique_ptr<LiveCell> before = nullptr);

	const Openings &of(size_t cell) const { return openings_[cell]; }
	const std::string &plugin_of(size_t cell) const { return plan_.plugin_of_cell[cell]; }

private:
	std::unique_ptr<LiveCell> try_to_open(size_t cell, const Surroundings &around);

	const plan::Plan &plan_;
	const uint32_t messages_;
	const privilege::SlotsView &slots_;
	privilege::Helper &helper_;
	Middleware &middleware_;
	const Isolated isolated_;
	std::vector<Openings> openings_; // by cell
	std::vector<std::vector<uint32_t>> families_; // by cell: LiveCell::families() of the previous opening
	uint32_t number_ = 0; // openings of all cells so far
};

// An uncounted block that warms fresh processes: caches, page tables, connections. Sparse cells need none: their
// messages always find everything cold.
BlockWish first_block(const model::Cell &cell, uint64_t number);

class RunCells {
public:
	// The references must outlive this. open() stores in `head` what libraries grant, and what arms have
	// loaded.
	RunCells(model::Head &head, CellOpener &opener, Notices &notices)
		: head_(head), opener_(opener), notices_(notices), courses_(head.cells.size())
	{}

	// The round that notices name; 0: before the first one.
	void set_round(uint32_t round) { round_ = round; }

	// Opens the cell in fresh processes. Returns the time taken, shutdown of the old ones included; 0: the cell was
	// given up, because it can't be opened or has ended. Throws privilege::HelperDied, after giving the cell up.
	uint64_t open(size_t cell);

	LiveCell *live(size_t cell) const { return courses_[cell].cell.get(); } // nullptr while it isn't open
	bool is_over(size_t cell) const { return courses_[cell].state == State::Over; }
	bool failed(size_t cell) const { return courses_[cell].state == State::Failed; } // it will be opened again
	bool any_failed(const Visit &visit) const;
	bool any_left() const;
	Visit living(const Visit &visit) const; // the visit's open cells
	// Whether its processes haven't been measured yet. Clears the flag.
	bool is_fresh(size_t cell);

	// What became of a block.
	void block_succeeded(size_t cell) { courses_[cell].tried_again = false; }
	// `may_pass`: fresh processes may succeed. The cell is opened again, unless no block succeeded since the last try.
	void block_failed(size_t cell, const std::string &why, bool may_pass);

	void give_up(size_t cell, const std::string &why);
	const std::vector<std::string> &given_up() const { return given_up_; } // one sentence per cell

	// Adds a notice for each open cell that lacks data, and returns their number. `probes`: probes work;
	// `always_probed`: all rounds have them.
	size_t name_those_without_data(const RunRecord &record, bool probes, bool always_probed);

private:
	void note_loaded(size_t cell); // in its arm, once for each target

	enum class State : uint8_t {
		Fresh, // not opened yet, or not warm yet
		Live,
		Failed, // for a reason that may pass: will be opened again
		Over,
	};
	struct Course {
		std::unique_ptr<LiveCell> cell;
		State state = State::Fresh;
		bool tried_again = false; // no block has succeeded since
	};

	model::Head &head_;
	CellOpener &opener_;
	Notices &notices_;
	std::vector<Course> courses_; // by cell
	std::vector<std::string> given_up_;
	uint32_t round_ = 0;
};

} // namespace icepath::run
