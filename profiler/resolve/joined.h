// SPDX-License-Identifier: Apache-2.0
#pragma once
// Windows that go on from each other: what was open as one ended is open as the next begins.
#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "profiler/path/observations.h"
#include "profiler/rundir/container.h"

namespace icepath::resolve {

// A block with what its messages may rest on.
struct JoinedBlock {
	// Where its window goes on from others, with their records and the same cell's stamps before its own.
	model::Block block;
	// Of those windows and its own, the last of which are `windows - 1`: in which of them a message must have its later stamp to be
	// resolved here, [from, to), and by flow how many stamps there are up to the end of each.
	size_t from = 0, to = 1;
	struct Stamps {
		std::vector<size_t> sends, recvs; // by window
	};
	std::vector<Stamps> stamps;

	bool resolves(const path::Delivery &delivery) const;
};

// A record that names a thread, and the slot that it was in.
struct ThreadRecord {
	int32_t slot_cpu = -1;
	icepath_record record;
};

// Sees a run's windows in their order. A record tells of what has ended, with its begin, and may be written late. So a message is resolved
// by the records of the window that has its later stamp, of the one before, and of the one after; a message that was sent before those has
// no complete path. Of earlier windows the last records that name threads are kept. In windows that go on from each other, each cell
// that has a block has one in all of them.
class JoinWindows {
public:
	// The blocks of the window.
	std::vector<JoinedBlock> add(rundir::WindowBlocks next);

private:
	std::deque<ThreadRecord> threads_; // that name threads, of windows before those: the last kMaxKeptThreads
	std::deque<rundir::WindowBlocks> last_; // that go on from each other: three at most
};

} // namespace icepath::resolve
