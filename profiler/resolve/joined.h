// SPDX-License-Identifier: Apache-2.0
#pragma once
// Joins windows that continue each other: what is open at one's end is open at the next one's begin.
#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "profiler/path/observations.h"
#include "profiler/rundir/container.h"

namespace icepath::resolve {

// A block with everything that its messages may rest on.
struct JoinedBlock {
	// If its window continues others, it has their records too, and the same cell's stamps from them before its own.
	model::Block block;
	// A message is resolved here if its later stamp is in one of the joined windows [from, to), counted from 0.
	// `stamps`: by flow, the number of stamps up to the end of each window.
	size_t from = 0, to = 1;
	struct Stamps {
		std::vector<size_t> sends, recvs; // by window
	};
	std::vector<Stamps> stamps;

	bool resolves(const path::Delivery &delivery) const;
};

// A record that names a thread, and its slot.
struct ThreadRecord {
	int32_t slot_cpu = -1;
	icepath_record record;
};

// Takes a run's windows in order. A record describes what has ended, with its begin, and may be written late. So a
// message is resolved with the records of three windows: the one with its later stamp, the one before and the one
// after. A message sent before these has no complete path. Of earlier windows, the last records that name threads are
// kept. In windows that continue each other, a cell has a block in all of them or in none.
class JoinWindows {
public:
	// Returns the window's blocks.
	std::vector<JoinedBlock> add(rundir::WindowBlocks next);

private:
	std::deque<ThreadRecord> threads_; // of windows that left `last_`: the last kMaxKeptThreads
	std::deque<rundir::WindowBlocks> last_; // windows that continue each other: at most three
};

} // namespace icepath::resolve
