// SPDX-License-Identifier: Apache-2.0
#pragma once
// System calls per message of a library, counted by thread in probed blocks, as `strace -c` does. Excludes icepath's
// own calls between two messages.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/model/run.h"
#include "profiler/path/observations.h"

namespace icepath::analysis {

struct CallRow {
	std::string thread; // of the sides' processes and of the daemon; threads of one name together
	std::string call; // "sendmsg"; "system call 600" if it has no name
	double per_message = 0;
};

class SystemCalls {
public:
	SystemCalls() = default; // of an unknown machine: calls have numbers only
	explicit SystemCalls(const model::Head &head);
	// Counts from the first side's begin of the block's message loop to the last one's end. `seen` has the calls and
	// the threads' names. Skips a block that lost records, and one that shares its window, because that has other
	// cells' calls.
	void add(const model::Block &block, const model::Cell &cell, const path::Observations &seen);

	// Per message sent, warm-up included, the most frequent first.
	std::vector<CallRow> by_thread() const;
	std::vector<CallRow> of_all_threads() const; // `thread` is empty

private:
	uint32_t architecture_ = 0; // libseccomp's token; 0: none
	std::map<std::pair<std::string, uint32_t>, uint64_t> counts_; // by thread and number
	uint64_t messages_ = 0;
};

} // namespace icepath::analysis
