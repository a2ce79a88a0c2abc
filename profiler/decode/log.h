// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a block's records: checks and numbers them, turns them into the walk's threads and CPUs, and finds the windows
// in which records are missing.
#include <set>

#include "profiler/model/block.h"
#include "profiler/path/observations.h"

namespace icepath::decode {

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

// An instant at a socket, or at another kernel queue, which has no key.
struct SocketEvent {
	uint64_t at_ns = 0;
	uint64_t socket = 0;
	uint32_t tid = 0;
	uint32_t stream_end = 0, bytes = 0;
	uint16_t cpu = 0;
	uint8_t context = 0;
	bool has_stream_end = false;
	bool may_be_another = false; // its kind of record can be dropped without a trace: kprobes
	uint32_t record = 0;
	uint32_t woken = 0; // tid; 0: not known
};

struct SocketEvents {
	std::vector<SocketEvent> ready, device, taken, enqueued; // each in time order
};

// Fills off-CPU periods of the threads already in `seen.threads`, CPUs, task names and loss windows. A record of
// unknown type, version, size or thread, or one that contradicts itself, is unreadable and leaves a loss window.
SocketEvents read_log(const std::vector<model::SlotCapture> &slots, Observations &seen);

} // namespace icepath::decode
