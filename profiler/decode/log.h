// SPDX-License-Identifier: Apache-2.0
#pragma once
// The records of a block in order: checked, numbered, cut into what the walk wants of threads and CPUs, with the windows
// of those that are missing.
#include <set>

#include "profiler/model/block.h"
#include "profiler/path/observations.h"

namespace icepath::decode {

// Of what it makes, and what that consists of.
using path::Boundary;
using path::ByCall;
using path::ByLibrary;
using path::BySlot;
using path::Call;
using path::Cpu;
using path::Delivery;
using path::Evidence;
using path::Interrupt;
using path::LossWindow;
using path::Mark;
using path::Observations;
using path::OffCpu;
using path::Provenance;
using path::Reason;
using path::Run;
using path::Thread;
using path::Transfer;

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
SocketEvents read_log(const std::vector<model::SlotCapture> &slots, Observations &seen);

} // namespace icepath::decode
