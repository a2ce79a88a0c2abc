// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by the message loops: where they read and write, when they stop, and how they end.
#include <string>
#include <utility>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/worker/cell_memory.h"
#include "profiler/worker/payload.h"
#include "profiler/worker/plugin_loader.h"
#include "profiler/worker/protocol.h"
#include "profiler/worker/slots_watch.h"

namespace icepath::worker {

class Callback;

// This worker's end of one of the cell's channels, and where it writes the stamps of its messages.
struct ChannelEnd {
	uint32_t channel;
	Endpoint *endpoint;
	model::SendStamp *sends;
	model::RecvStamp *recvs;
};

// What a worker's blocks need. Buffers hold payload_bytes.
struct Cell {
	// The hub has every channel end, in order; each other side has one. A fan-in's receiver has one endpoint for all.
	std::vector<ChannelEnd> &ends;
	CellMap &memory;
	Payloads &payloads;
	SlotsWatch &slots;
	void *send_buffer;
	void *receive_buffer;
	bool lossy; // ICEPATH_IS_LOSSY
	bool lends; // ICEPATH_CAN_LOAN
	uint32_t peers; // above 1: a fan-in with so many senders
	Callback *callback; // a library's thread receives; nullptr: the side's own thread

	ChannelEnd &only() { return ends.front(); }
	bool is_fan_in() const { return peers > 1; }
	SenderState &sender(const ChannelEnd &end) { return memory.head().senders[is_fan_in() ? end.channel : 0]; }
	ReceiverState &receiver(const ChannelEnd &end) { return memory.head().receivers[end.channel]; }
};

struct Outcome {
	ReplyStatus status = ReplyStatus::Done;
	std::string message;
	model::BlockEnd end = model::BlockEnd::Count;
	uint32_t sends = 0, recvs = 0; // per channel; a fan-in's recvs: of all channels
};

// Decides when a block ends. Side 0 asks it before each message.
class Ending {
public:
	Ending(const BlockRequest &block, const SlotsWatch &slots, const CellMemory &shared)
		: block_(block), slots_(slots), shared_(shared)
	{}

	// Whether message `seq` must be the last. `now_ns`: when it is, or will be, sent.
	bool is_last(uint64_t seq, uint64_t now_ns);
	model::BlockEnd why() const { return why_; }

private:
	bool slots_are_nearly_full(uint64_t seq, uint64_t now_ns);

	const BlockRequest &block_;
	const SlotsWatch &slots_;
	const CellMemory &shared_;
	model::BlockEnd why_ = model::BlockEnd::Count;
	uint64_t looked_ns_ = 0;
};

// From the time that all sides are ready until the first message is due.
inline constexpr uint64_t kStartNs = 1'000'000;

inline uint64_t messages_of(const BlockRequest &block) { return uint64_t{block.warm_up} + block.count; }

void spin_until(uint64_t at_ns);
// Sleeps first, then spins.
void wait_until(uint64_t at_ns);
// When message 0 is due, if messages are due every `period_ns` (0: at no set times). A sender that is late for it waits
// for the next period: other cells may have their turns in this one.
uint64_t start_of(const BlockRequest &block, double period_ns);
inline void spin_for(uint64_t ns)
{
	if (ns)
		spin_until(icepath_now_ns() + ns);
}

// A message in the hands of the side.
struct Arrival {
	const icepath_recv &message;
	const void *place;
	uint64_t recv_ns;
	uint32_t thread = 0; // tid of the library's thread that called the handler; 0: the side's own thread received it
};

// `thread`: as in Arrival.
model::SendStamp stamp_of(const icepath_send &message, uint64_t seq, uint64_t intended_ns, uint64_t send_ns,
						  const BlockRequest &block, uint32_t thread = 0);
model::RecvStamp stamp_of(const Arrival &arrival, const Payloads::Checked &checked, const BlockRequest &block);

// Ends a block whose send or recv returned `status`. `doing`: "sending message 3".
void end_by(Outcome &outcome, int status, const Endpoint &endpoint, const std::string &doing);

// A receiver publishes that it is about to ask.
void tell_ready(Cell &cell, const BlockRequest &block);

// What a side that receives does in a block: begin(), then take() for each message until one returns false. Its own
// thread goes through them in a loop, or begins and leaves the messages to a library's thread (callback.h).
class Steps {
public:
	virtual ~Steps() = default;
	virtual bool begin() = 0;
	virtual bool take(const Arrival &arrival) = 0;
	virtual bool fail(int status) = 0; // no message came: ends the block, and returns false

	Outcome outcome;

protected:
	// Ends the block by the status of a call of `end`, and returns false. `doing` has a place for the message's number.
	bool end(int status, const ChannelEnd &end, const char *doing, uint64_t number);
};

// The message loops, which are all that runs between the two markers. They never throw.
Outcome initiate(Cell &cell, const BlockRequest &block);
Outcome respond(Cell &cell, const BlockRequest &block);
Outcome send_one_way(Cell &cell, const BlockRequest &block);
Outcome receive_one_way(Cell &cell, const BlockRequest &block);

// Both ends in one thread, side 0 in `near`: each message is sent, then taken. `near_told` has the status of both.
void exchange_in_one_thread(Cell &near, Cell &far, const BlockRequest &block, Outcome &near_told, Outcome &far_told);
void pass_in_one_thread(Cell &near, Cell &far, const BlockRequest &block, Outcome &near_told, Outcome &far_told);

// After send_one_way() over a lossy target, outside the markers: ends a receiver that waits for lost messages.
void close_one_way(Cell &cell, const BlockRequest &block);

// Where a message is written before it is sent, and read after it arrived: in the cell's own buffers, or in the
// target's slots if it lends them.
//
// A place for the next message. A wait for a slot isn't part of its latency: it isn't written yet.
inline int borrow(Cell &cell, ChannelEnd &end, void *&place)
{
	place = cell.send_buffer;
	return cell.lends ? end.endpoint->loan(cell.payloads.bytes(), place) : ICEPATH_OK;
}

inline int send_from(Cell &cell, ChannelEnd &end, void *place, icepath_send &message)
{
	return cell.lends ? end.endpoint->send_loaned(place, message) : end.endpoint->send(message);
}

// The message stays at `place` until give_back().
inline int recv_at(Cell &cell, const void *&place, icepath_recv &message)
{
	place = cell.receive_buffer;
	return cell.lends ? cell.only().endpoint->take(place, message) : cell.only().endpoint->recv(message);
}

inline int give_back(Cell &cell, const void *place)
{
	return cell.lends && !cell.callback ? cell.only().endpoint->give_back(place) : ICEPATH_OK;
}

template <class Its> Outcome in_own_thread(Cell &cell, Its &steps)
{
	for (bool goes_on = steps.begin(); goes_on;) {
		icepath_recv in{};
		in.size = sizeof(in);
		in.data = cell.receive_buffer;
		in.capacity = cell.payloads.bytes();
		const void *place = nullptr;
		const int status = recv_at(cell, place, in);
		const uint64_t recv_ns = icepath_now_ns();
		goes_on = status == ICEPATH_OK ? steps.take({in, place, recv_ns}) : steps.fail(status);
	}
	return std::move(steps.outcome);
}

} // namespace icepath::worker
