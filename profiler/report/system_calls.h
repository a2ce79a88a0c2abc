// SPDX-License-Identifier: Apache-2.0
#pragma once
// The system calls that a message of a library costs: counted by thread, as `strace -c` counts them, in blocks with probes. Those of
// icepath's own between two messages aren't among them.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/model/run.h"
#include "profiler/path/observations.h"

namespace icepath::report {

struct CallRow {
	std::string thread; // of the sides' processes and of the daemon, by name: those of one name together
	std::string call; // "sendmsg"; "system call 600" where it has no name
	double per_message = 0;
};

class SystemCalls {
public:
	SystemCalls() = default; // of a machine that isn't known: calls have numbers only
	explicit SystemCalls(const model::Head &head);
	// From the first side's begin of the block's message loop to the last one's end; `seen` names threads. A block that lost records isn't
	// counted, nor one that shares its window: others' calls are in it.
	void add(const model::Block &block, const model::Cell &cell, const path::Observations &seen);

	// Of each message sent, warm-up included. The most frequent first.
	std::vector<CallRow> by_thread() const;
	std::vector<CallRow> of_all_threads() const; // without `thread`

private:
	uint32_t architecture_ = 0; // libseccomp's token; 0: none
	std::map<std::pair<std::string, uint32_t>, uint64_t> counts_; // by thread and number
	uint64_t messages_ = 0;
};

} // namespace icepath::report
