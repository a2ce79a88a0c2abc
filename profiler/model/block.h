// SPDX-License-Identifier: Apache-2.0
#pragma once
// One cell's measurement in one window: the stamps of its messages and what its sides used. Plain data.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/model/counters.h"
#include "profiler/model/sockets.h"
#include "profiler/model/stamps.h"
#include "profiler/model/window.h"

namespace icepath::model {

// What one side used during the block: the 16 fields of getrusage(2), as differences except max_rss_kib. Of the
// measuring thread, or of the process where a library's threads carry messages (worker::BlockRequest::count_process).
struct Usage {
	uint64_t user_ns = 0, system_ns = 0;
	uint64_t voluntary_switches = 0, involuntary_switches = 0;
	uint64_t minor_faults = 0, major_faults = 0;
	uint64_t max_rss_kib = 0; // of the worker's process: the maximum up to the end of the block
	uint64_t block_inputs = 0, block_outputs = 0; // 512 bytes each, from and to storage
	uint64_t shared_text = 0, unshared_data = 0, unshared_stack = 0; // ru_ixrss, ru_idrss, ru_isrss: 0 on Linux
	uint64_t swaps = 0, messages_sent = 0, messages_received = 0, signals = 0; // 0 on Linux
};

// Keys in the run directory and in run.json.
struct UsageField {
	const char *key;
	uint64_t Usage::*value;
};
inline constexpr UsageField kUsageFields[] = {
	{"user_ns", &Usage::user_ns},
	{"system_ns", &Usage::system_ns},
	{"voluntary_switches", &Usage::voluntary_switches},
	{"involuntary_switches", &Usage::involuntary_switches},
	{"minor_faults", &Usage::minor_faults},
	{"major_faults", &Usage::major_faults},
	{"max_rss_kib", &Usage::max_rss_kib},
	{"block_inputs", &Usage::block_inputs},
	{"block_outputs", &Usage::block_outputs},
	{"shared_text", &Usage::shared_text},
	{"unshared_data", &Usage::unshared_data},
	{"unshared_stack", &Usage::unshared_stack},
	{"swaps", &Usage::swaps},
	{"messages_sent", &Usage::messages_sent},
	{"messages_received", &Usage::messages_received},
	{"signals", &Usage::signals},
};
static_assert(std::size(kUsageFields) * sizeof(uint64_t) == sizeof(Usage), "each field has its name");

struct BlockSide {
	uint32_t tid = 0; // the measuring thread, listed in Window::threads
	Usage usage;
	Counters counters;
	// Just before the worker's marker system call at the block's begin, and just after the one at its end:
	// tools/witness.bt.
	uint64_t marker_begin_ns = 0, marker_end_ns = 0;
};

// The messages of one of the cell's flows.
struct BlockFlow {
	uint64_t sender_key = 0, receiver_key = 0; // icepath_socket.key of the socket at that end; 0: it has none
	std::vector<SendStamp> sends; // in the order of sending
	std::vector<RecvStamp> recvs; // in the order of reception
};

enum class BlockEnd : uint8_t { Count, Deadline, LogFull, Failed, Interrupted };

struct Block {
	uint32_t cell = 0; // index into the run's cells
	// Counts how often the cell's processes were started anew. What chance fixes for a process's lifetime (addresses,
	// page colours, hash seeds) is the same in all blocks of an opening.
	uint32_t opening = 0;
	bool confirms = false; // max-rate: measured after the search, at the rate found, and not part of the search
	std::optional<double> rate_hz; // max-rate: this block's rate; with other patterns the cell has the rate
	BlockEnd end = BlockEnd::Count;
	std::string failure; // set where end == Failed
	std::vector<BlockSide> sides; // in the order of Graph::sides
	std::vector<BlockFlow> flows; // in the order of Graph::flows
	std::optional<uint64_t> daemon_cpu_ns; // used by the middleware's daemon during the block; nothing without a daemon
	// Nothing: the cell's processes weren't asked, as those of a target without sockets.
	std::optional<BlockSockets> sockets;
	// Shared by the blocks that were measured in the same window. Never null.
	std::shared_ptr<const Window> window = std::make_shared<Window>();
};

// Whether hardware counters were open at any side. They lengthen each context switch by 1 µs and more, so such a block
// serves for its counts only, not for latencies.
inline bool is_counted(const Block &block)
{
	return std::ranges::any_of(block.sides, [](const BlockSide &side) { return hardware_was_on(side.counters); });
}

} // namespace icepath::model
