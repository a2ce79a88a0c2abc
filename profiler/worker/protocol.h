// SPDX-License-Identifier: Apache-2.0
#pragma once
// The protocol between icepath and an icepath-worker: messages over a SOCK_SEQPACKET socket pair, and a cell's shared
// memory.
//
// icepath starts `icepath-worker --control FD [--control FD]… [--one-thread]`, with a socket for each side. The main
// thread runs the first side, a thread of its own each further one; with --one-thread the main thread runs both of two
// sides. Each request has one reply, in order; with --one-thread a block begins once both sides were asked for it. File
// descriptors travel as SCM_RIGHTS with the message that states their number. A side ends when its socket closes, the
// worker with its last side. icepath trusts no reply: it checks sizes, and cuts strings at their array's end.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "icepath/plugin.h"
#include "profiler/model/block.h"
#include "profiler/model/factors.h"
#include "profiler/model/sockets.h"
#include "profiler/model/stamps.h"
#include "profiler/rundir/limits.h"

namespace icepath::worker {

enum class RequestKind : uint32_t {
	Describe, // load `plugin`, reply with target number `index` (Done with an empty name: no more)
	// Load `plugin`, open an endpoint of `target`; fds: the cell's memory [, the map of how full the capture's slots
	// are]. Sent once for each of the worker's channels, those that carry messages first. A sender to several receivers
	// has all channels, each receiver has one. A fan-in's receiver opens one endpoint, for the first channel.
	Open,
	// Connect endpoint number `index` of this worker to the peer's address; fds: the peer's. Sent once for each peer.
	Connect,
	// Lock the memory of the worker's process. The reply's message says why that failed; empty: it succeeded.
	LockMemory,
	RunBlock, // run one block; the worker replies at its end
	Close, // close the endpoint and exit
	DescribeDaemon, // load `plugin`, reply with its daemon's identity_of(); empty: it has none
	// Reply with the text that the daemon prints once it is ready, and become the daemon; fds: its stdout and stderr.
	BecomeDaemon,
	// Reply with the sockets of the worker's process, and what the kernel counted of them since the look before.
	LookAtSockets,
};

struct OpenRequest {
	char target[32];
	char name[64]; // icepath_open::name
	char thread[16]; // name of the measuring thread: model::side_name
	uint32_t channel, channels; // number of the channel; how many carry messages: those from `channels` on stay idle
	uint32_t side; // of the channel: 0 or 1
	uint32_t peers; // see icepath_open; above 1: as many channels, each with a sender of its own
	uint32_t sends, receives;
	uint32_t wait; // icepath_wait
	// 1: the target, or the quality of service asked for, may lose messages without an error.
	uint32_t may_lose;
	uint64_t payload_bytes;
	uint32_t max_messages; // room in the cell's memory, per direction and block
	uint32_t depth;
	icepath_qos qos;
	model::Levels levels;
};

// How far past its deadline a block may run, if its sides were ready late or its messages are slow.
inline constexpr uint64_t kPatienceNs = 500'000'000;

// Side 0's messages carry seq 0 .. warm_up + count - 1. Side 1 answers each with levels.responses messages if the
// pattern is answered (model::is_answered).
struct BlockRequest {
	uint32_t one_way; // 0: messages are answered
	uint32_t warm_up; // messages before the counted ones
	uint32_t count; // counted messages, at most
	uint32_t slots; // how many slots to watch: the block ends when one is three quarters full; 0: unprobed
	uint32_t slot_records; // capacity of a slot
	uint32_t at_least; // so many counted messages are sent even after the deadline, within kPatienceNs of it
	uint64_t block; // the block's number, in every payload
	uint64_t deadline_ns; // CLOCK_MONOTONIC; side 0 stops sending then
	uint64_t cancel_ns; // CLOCK_MONOTONIC, after the deadline and kPatienceNs: every call is cancelled then
	double rate_hz; // one_way: messages per second of each sender; 0: as fast as possible
	uint64_t first_due_ns; // one_way at a rate: when message 0 is due, CLOCK_MONOTONIC; 0: once all are ready
	model::Levels levels; // demand, responses: above 0
	uint32_t count_process; // 1: report the usage of the whole process, all of whose threads belong to this side
	uint32_t count_hardware; // 1: with hardware counters, which lengthen context switches: see usage.h
};

struct Request {
	RequestKind kind;
	uint32_t index; // Describe, Connect
	char plugin[256]; // path of the shared object; Describe, Open, DescribeDaemon, BecomeDaemon
	OpenRequest open;
	BlockRequest block;
	icepath_address address; // Connect; its fds come as SCM_RIGHTS
};

enum class ReplyStatus : uint32_t {
	Done,
	Failed, // `message` says why
	PeerDied, // ICEPATH_CLOSED in a block
	Cancelled, // the watchdog ended it after the deadline
};

struct TargetReply { // icepath_target without pointers
	char name[32], summary[128], max_payload_why[160], why_not[256], library_version[64], plugin_version[64];
	uint32_t waits, mechanisms, capabilities, fanin_waits;
	uint64_t max_payload_bytes, max_part_bytes, fanin_max_bytes;
	uint32_t qos;
	char daemon[64], why_no_daemon[128]; // icepath_daemon: its name, and why it can't be started
};

struct BlockReply {
	uint32_t end; // model::BlockEnd
	// Stamps written for each channel, warm-up included; by a fan-in's receiver: for all (ReceiverState has each).
	uint32_t sends, recvs;
	model::Usage usage;
	model::Counters counters;
	uint64_t marker_begin_ns, marker_end_ns;
};

struct SocketsReply {
	uint32_t groups_used;
	uint32_t has_counts; // 1: some of them are of the Internet's protocols
	uint64_t loopback_mtu; // as model::BlockSockets
	std::array<model::SocketGroup, model::kMostSocketGroups> groups; // `side` isn't set
	model::KernelCounts counts; // since the namespace began
};

struct Reply {
	ReplyStatus status;
	char message[384]; // if status isn't Done; DescribeDaemon, BecomeDaemon, LockMemory
	TargetReply target; // Describe
	uint32_t tid; // Open: of the measuring thread
	icepath_address address; // Open; its fds come as SCM_RIGHTS, then `sockets` more, which the probes watch
	uint32_t sockets; // Open, Connect: newly made ones
	icepath_qos granted; // Connect
	BlockReply block;
	SocketsReply looked; // LookAtSockets
};

// Written by a channel's receiver, read by its sender, and by icepath after a fan-in's block.
struct alignas(64) ReceiverState {
	// The block's number + 1 once the receiver is about to ask: no sender sends before.
	std::atomic<uint64_t> ready;
	// One-way: the number of stamps that the receiver has written, and the block's number + 1 once it has ended the
	// block. A sender over a lossy target, where the last message may be lost, reads both.
	std::atomic<uint64_t> received, finished;
};

// Written by a sender, read by its receivers.
struct alignas(64) SenderState {
	// The seq of the block's last message, stored before that one is sent; UINT64_MAX: unknown yet.
	std::atomic<uint64_t> last_seq;
	// When `received` and `finished` stop changing, the sender stores the block's number + 1 here, and sends that
	// receiver one message with PayloadHead.seq UINT64_MAX, which gets no stamp.
	std::atomic<uint64_t> closing;
	// The block's number + 1 once the sender is about to begin (fan-in only), and once its last message is sent.
	std::atomic<uint64_t> arrived, done;
};

// Head of the memory that icepath and a cell's workers map. The stamps follow: for each channel, `capacity` SendStamps
// and `capacity` RecvStamps of its side 0, then as many of its side 1.
struct CellMemory {
	uint32_t capacity; // stamps of each kind per end of a channel; written once by icepath
	uint32_t reserved0[15];
	// icepath stores the block's number + 1 here to end the block early: each sender's next message is the last.
	alignas(64) std::atomic<uint64_t> stop;
	// Fan-in: the begin of all senders' schedules. The receiver writes it before `ready`.
	std::atomic<uint64_t> start_ns;
	std::array<SenderState, rundir::kMaxSides - 1> senders; // one for all; in a fan-in by channel
	std::array<ReceiverState, rundir::kMaxSides - 1> receivers; // by channel
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Offset in a cell's memory of the stamps of one end of a channel: `capacity` SendStamps, then `capacity` RecvStamps.
inline constexpr uint64_t stamps_offset(uint32_t capacity, uint32_t channel, uint32_t side)
{
	return sizeof(CellMemory) +
		   (2ull * channel + side) * capacity * (sizeof(model::SendStamp) + sizeof(model::RecvStamp));
}
inline constexpr uint64_t cell_memory_bytes(uint32_t capacity, uint32_t channels)
{
	return stamps_offset(capacity, channels, 0);
}

// The first bytes of every payload, as far as they fit. A pattern follows that depends on block, direction and seq.
struct PayloadHead {
	uint64_t seq;
	uint64_t block; // the block's number; the upper kSenderBits have the sender's
};
inline constexpr unsigned kSenderBits = 8; // of PayloadHead::block, at the top
static_assert(rundir::kMaxSides - 2 < 1u << kSenderBits);

// The marker at both ends of a block's message loop, by which a witness script finds it: faccessat2(-1, "",
// kMarkerMode, flags), which fails at once and is unlike any other call. `flags`: 0 at the begin, 1 at the end.
inline constexpr int kMarkerMode = -19751;

// A string in a fixed-size field: up to the first 0, or the whole field.
template <size_t N> std::string text(const char (&field)[N]) { return {field, strnlen(field, N)}; }

// Copies into a zeroed field, truncating. nullptr: does nothing.
template <size_t N> void put(char (&field)[N], const char *source)
{
	if (source)
		std::strncpy(field, source, N - 1);
}

} // namespace icepath::worker
