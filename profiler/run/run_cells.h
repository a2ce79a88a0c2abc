// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's cells over its course: opened, opened anew in fresh processes, given up.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/run/cell_opener.h"
#include "profiler/run/live_cell.h"
#include "profiler/run/notices.h"
#include "profiler/run/run_record.h"
#include "profiler/run/visits.h"

namespace icepath::run {

class RunCells {
public:
	// The references are the caller's. `head` gets what libraries grant, and gives cells their titles.
	RunCells(model::Head &head, CellOpener &opener, Notices &notices)
		: head_(head), opener_(opener), notices_(notices), courses_(head.cells.size())
	{}

	// From now on, in sentences; 0: before the first one.
	void set_round(uint32_t round) { round_ = round; }

	// In fresh processes: what that took, with ending those before. One that can't be opened, or has ended by itself, is given up. Throws
	// privilege::HelperDied, when the cell was given up.
	uint64_t open(size_t cell);

	LiveCell *live(size_t cell) const { return courses_[cell].cell.get(); } // nullptr while it isn't open
	bool is_over(size_t cell) const { return courses_[cell].state == State::Over; }
	bool failed(size_t cell) const { return courses_[cell].state == State::Failed; } // and is to be opened again
	bool any_left() const;
	Visit living(const Visit &visit) const; // those of it that are open
	// Whether its processes haven't been measured yet. Asked once: then they have been.
	bool is_fresh(size_t cell);

	// What became of a block.
	void block_succeeded(size_t cell) { courses_[cell].tried_again = false; }
	// `may_pass`: fresh processes may do better. Then it is to be opened again, unless that was of no use the last time.
	void block_failed(size_t cell, const std::string &why, bool may_pass);

	void give_up(size_t cell, const std::string &why);
	const std::vector<std::string> &given_up() const { return given_up_; } // a sentence for each

	// Tells of those that are open what they lack, and returns how many there are; others have said why. `probes`: they work;
	// `always_probed`: there are no rounds without them.
	size_t name_those_without_data(const RunRecord &record, bool probes, bool always_probed);

private:
	enum class State : uint8_t {
		Fresh, // to be opened, or not warm yet
		Live,
		Failed, // for a reason that may pass: to be opened again
		Over,
	};
	struct Course {
		std::unique_ptr<LiveCell> cell;
		State state = State::Fresh;
		bool tried_again = false; // no block has come whole since
	};

	model::Head &head_;
	CellOpener &opener_;
	Notices &notices_;
	std::vector<Course> courses_; // by cell
	std::vector<std::string> given_up_;
	uint32_t round_ = 0;
};

} // namespace icepath::run
