// SPDX-License-Identifier: Apache-2.0
#pragma once
// The records of a block in order: checked, numbered, cut into what the walk wants of threads and CPUs, with the windows
// of those that are missing.
#include <set>

#include "profiler/path/observations.h"
#include "profiler/rundir/block.h"

namespace icepath::path {

// An instant at a socket, or at another queue of the kernel's: that has no key.
struct SocketEvent {
	uint64_t at_ns = 0;
	uint64_t socket = 0;
	uint32_t tid = 0;
	uint32_t stream_end = 0, bytes = 0;
	uint16_t cpu = 0;
	uint8_t context = 0;
	bool has_stream_end = false;
	bool may_be_another = false; // records of its kind are dropped without a trace: kprobes
	uint32_t record = 0;
	uint32_t woken = 0; // tid; 0: not told
};

struct SocketEvents {
	std::vector<SocketEvent> ready, device, taken, enqueued; // each by time
};

// Fills threads' off-CPU periods (of the tids that `seen.threads` has already), CPUs, task names and loss windows. Records
// of an unknown type, version or size, of an unknown thread, or that contradict themselves are unreadable: windows of their own.
SocketEvents read_log(const std::vector<rundir::SlotCapture> &slots, Observations &seen);

// When an interrupt on a CPU was over, in all of its pieces. 0: that isn't known.
uint64_t end_of(const Observations &seen, uint16_t cpu, const Interrupt &one);

// The outermost interrupt on a CPU that holds an instant, or nullptr; and its record.
const Interrupt *outermost_around(const Observations &seen, uint16_t cpu, uint64_t at_ns);
std::optional<uint32_t> interrupt_around(const Observations &seen, uint16_t cpu, uint64_t at_ns);

// How many records were captured that can't be read, as far as no other is missing beside them.
uint64_t unreadable_records(const Observations &seen);

// Whether a loss window touches [begin, end].
bool lost_within(const Observations &seen, uint64_t begin_ns, uint64_t end_ns);

} // namespace icepath::path
