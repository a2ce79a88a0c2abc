// SPDX-License-Identifier: Apache-2.0
#pragma once
// Between icepath and an icepath-worker: messages over a SOCK_SEQPACKET socket pair, and the memory of a cell.
//
// The worker is started as `icepath-worker --control FD [--control FD]… [--one-thread]`, with a socket for each side that it
// is: its first side is its main thread, every further one a thread of its own. With --one-thread its main thread is both of
// two sides. Each request has exactly one reply, in order; of --one-thread a block begins when both sides were asked for it.
// File descriptors travel as SCM_RIGHTS beside the message that tells their number. A side ends when its socket closes, the
// worker with its last side.
// icepath trusts nothing in a reply: sizes are checked, strings are cut at their array's end.
#include <array>
#include <atomic>
#include <cstdint>

#include "icepath/plugin.h"
#include "profiler/model/block.h"
#include "profiler/model/factors.h"
#include "profiler/model/stamps.h"
#include "profiler/rundir/limits.h"

namespace icepath::worker {

enum class RequestKind : uint32_t {
	Describe, // load `plugin`, reply with target number `index` (status Done with an empty name: no more)
	// Load `plugin`, open an endpoint of `target`; fds: the cell's memory [, the map of how far the capture's slots are filled]. Asked once
	// for each channel of the worker's, those that carry messages first; a sender to several receivers has all, each of
	// these one. A fan-in's receiver has one endpoint for all channels, opened as that of the first.
	Open,
	// Endpoint number `index` of this worker to the peer's address; fds: the peer's. Asked once for each peer.
	Connect,
	// Lock the memory of the worker's process, with all its threads'; the reply's message says why it isn't locked, empty: it is.
	LockMemory,
	RunBlock, // run one block; the reply comes when it has ended
	Close, // close the endpoint and exit
	DescribeDaemon, // load `plugin`, reply with identity_of() its daemon; empty: it has none
	// Reply with what the daemon prints once it is ready, and become it; fds: what it prints goes there.
	BecomeDaemon,
};

struct OpenRequest {
	char target[32];
	char name[64]; // unique for this channel
	char thread[16]; // what the measuring thread is called: model::side_name
	uint32_t channel,
		channels; // which of the cell's channels, and how many of them carry messages: those beyond stay idle
	uint32_t side; // of the channel: 0 or 1
	uint32_t peers; // icepath_open: above 1 the channels are as many, each with a sender of its own
	uint32_t sends, receives;
	uint32_t wait; // icepath_wait
	uint32_t
		may_lose; // 1: messages may be lost without an error: by the target, or by the quality of service asked for
	uint64_t payload_bytes;
	uint32_t max_messages; // room in the cell's memory, per direction and block
	uint32_t depth;
	icepath_qos qos;
	model::Levels levels;
};

// A block that isn't ready in time, or whose messages turn out slower than expected, is late by so much at most.
inline constexpr uint64_t kPatienceNs = 500'000'000;

// Every message of a side 0 carries seq 0 .. warm_up + count - 1; side 1's as many for each, see model::is_answered.
struct BlockRequest {
	uint32_t one_way; // 0: pingpong
	uint32_t warm_up; // messages before the counted ones
	uint32_t count; // counted messages at most
	uint32_t slots; // end the block when one of these many slots is three quarters full; 0: unprobed, nothing to watch
	uint32_t slot_records; // that a slot holds
	uint32_t at_least; // counted messages that the deadline lets through, as long as they come within kPatienceNs of it
	uint64_t block; // number of the block, in every payload
	uint64_t deadline_ns; // CLOCK_MONOTONIC; side 0 stops sending here, and 1 s later every call is cancelled
	double rate_hz; // one_way: messages per second of each sender; 0: as fast as they go
	uint64_t first_due_ns; // one_way at a rate: when message 0 is due, CLOCK_MONOTONIC; 0: as soon as all are ready
	model::Levels levels; // demand, responses: above 0
	uint32_t count_process; // 1: the usage is that of the whole process, all of whose threads are this side's
	uint32_t count_hardware; // 1: with hardware counters, which make context switches longer: see counters.h
};

struct Request {
	RequestKind kind;
	uint32_t index; // Describe, Connect
	char plugin[256]; // path of the shared object; Describe and Open
	OpenRequest open;
	BlockRequest block;
	icepath_address address; // Connect; its fds come as SCM_RIGHTS
};

enum class ReplyStatus : uint32_t {
	Done,
	Failed, // `message` says why
	PeerDied, // ICEPATH_CLOSED in a block
	Cancelled, // the deadline's watchdog had to end it
};

struct TargetReply { // icepath_target without pointers
	char name[32], summary[128], max_payload_why[160], why_not[256], library_version[64];
	uint32_t waits, mechanisms, capabilities, fanin_waits;
	uint64_t max_payload_bytes, max_part_bytes, fanin_max_bytes;
	uint32_t qos;
	char daemon[64], why_no_daemon[128]; // icepath_daemon: its name, and why it can't be started
};

struct BlockReply {
	uint32_t end; // model::BlockEnd
	// Stamps written for each channel, warm-up included. Of a fan-in's receiver: for all channels, ReceiverState has each.
	uint32_t sends, recvs;
	model::Usage usage;
	model::Counters counters;
	uint64_t marker_begin_ns, marker_end_ns;
};

struct Reply {
	ReplyStatus status;
	char message[384]; // where status isn't Done; DescribeDaemon, BecomeDaemon, LockMemory
	TargetReply target; // Describe
	uint32_t tid; // Open: of the thread that measures
	icepath_address address; // Open; its fds come as SCM_RIGHTS, then `sockets` more: those that the probes watch
	uint32_t sockets; // Connect as well: those that came to be only then
	icepath_qos granted; // Connect
	BlockReply block;
};

// What the receiver of a channel tells the sender.
struct alignas(64) ReceiverState {
	// The block's number + 1 when it is about to ask, so that nobody sends before.
	std::atomic<uint64_t> ready;
	// One-way: it counts the stamps it has written. Over a lossy target, where the last message may be lost, it puts the
	// block's number + 1 in `finished`.
	std::atomic<uint64_t> received, finished;
};

// What a sender tells.
struct alignas(64) SenderState {
	// It ends a block by telling the seq that will be its last, before it sends it; UINT64_MAX while unknown.
	std::atomic<uint64_t> last_seq;
	// Where `received` and `finished` don't move any more, it puts the block's number + 1 here and sends that receiver one
	// message with PayloadHead.seq UINT64_MAX, which gets no stamp.
	std::atomic<uint64_t> closing;
	// Fan-in: the block's number + 1 when it is about to begin, and when its last message is sent.
	std::atomic<uint64_t> arrived, done;
};

// Head of the memory that the workers of a cell and icepath map. The stamps follow: for each channel, `capacity` SendStamps
// and `capacity` RecvStamps of its side 0, then as many of its side 1.
struct CellMemory {
	uint32_t capacity; // messages per flow; written once by icepath
	uint32_t reserved0[15];
	// icepath puts the block's number + 1 here when the user wants to stop: each sender's next message is the last.
	alignas(64) std::atomic<uint64_t> stop;
	// Fan-in: what the schedules of all senders begin with. The receiver writes it before it is ready.
	std::atomic<uint64_t> start_ns;
	std::array<SenderState, rundir::kMaxSides - 1> senders; // one; in a fan-in by channel
	std::array<ReceiverState, rundir::kMaxSides - 1> receivers; // by channel
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Where in a cell's memory one end of a channel has its stamps: `capacity` SendStamps, then `capacity` RecvStamps.
inline constexpr uint64_t stamps_offset(uint32_t capacity, uint32_t channel, uint32_t side)
{
	return sizeof(CellMemory) +
		   (2ull * channel + side) * capacity * (sizeof(model::SendStamp) + sizeof(model::RecvStamp));
}
inline constexpr uint64_t cell_memory_bytes(uint32_t capacity, uint32_t channels)
{
	return stamps_offset(capacity, channels, 0);
}

// The first bytes of every payload, as many of them as fit; the rest is a pattern that depends on seq.
struct PayloadHead {
	uint64_t seq;
	uint64_t block; // its number, and in the upper bits the sender's: see below
};
inline constexpr unsigned kSenderBits = 8; // of PayloadHead::block
static_assert(rundir::kMaxSides - 2 < 1u << kSenderBits);

// The worker's marker system call at both ends of a block's message loop: faccessat2(-1, "", kMarkerMode, flags), which
// fails at once and is unlike any other call. A witness script finds the block by it; `flags` is 0 at the begin, 1 at
// the end.
inline constexpr int kMarkerMode = -19751;

} // namespace icepath::worker
