// SPDX-License-Identifier: Apache-2.0
// Open loop: the sender keeps to its schedule whatever the receiver does, so that waiting for a slow receiver shows as
// latency instead of being hidden (coordinated omission, Gil Tene).
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "profiler/worker/callback.h"
#include "profiler/worker/watchdog.h"

namespace icepath::worker {
namespace {

// After no progress for this time, missing messages count as lost.
constexpr uint64_t kQuietNs = 50'000'000;
constexpr uint64_t kLookEveryNs = 1'000'000;

// The copy of a message for one receiver.
struct Outgoing {
	ChannelEnd &end;
	void *place;
	icepath_send message;
};

// What has arrived from one sender.
struct Incoming {
	ChannelEnd &end;
	const SenderState &sender;
	ReceiverState &state;
	uint32_t recvs = 0;
	uint64_t expected = 0;
	bool ended = false;
};

// The sender of a message; null: none that is still sending. A damaged message may name any sender, so if the named one
// has ended, it counts for any open one. So does an intact message over a lossless target: a damaged one has been
// counted in its place. Over a lossy target an intact one may be a duplicate, and is dropped.
Incoming *owner(std::vector<Incoming> &incoming, const Payloads::Checked &checked, bool lossy)
{
	if (checked.sender < incoming.size() && !incoming[checked.sender].ended)
		return &incoming[checked.sender];
	const bool is_good = checked.verdict == Payloads::Verdict::Intact || checked.verdict == Payloads::Verdict::Closing;
	const auto open = std::ranges::find(incoming, false, &Incoming::ended);
	return (is_good && lossy) || open == incoming.end() ? nullptr : &*open;
}

// When message 0 is due. In a fan-in the senders take turns: their schedules are spread evenly over the period.
uint64_t start_of_schedule(Cell &cell, const BlockRequest &block, double period_ns)
{
	if (!cell.is_fan_in())
		return start_of(block, period_ns);
	const double phase_ns = period_ns * cell.only().channel / cell.peers;
	return cell.memory.head().start_ns.load(std::memory_order_relaxed) + static_cast<uint64_t>(phase_ns);
}

// A closing message among other senders' messages couldn't be attributed: a fan-in closes once all are done.
bool all_are_done(Cell &cell, const BlockRequest &block)
{
	const auto &senders = cell.memory.head().senders;
	return !cell.is_fan_in() || std::all_of(senders.begin(), senders.begin() + cell.peers, [&](const auto &sender) {
		return sender.done.load(std::memory_order_relaxed) == block.block + 1;
	});
}

// Ends a receiver that waits for lost messages.
void close(Cell &cell, ChannelEnd &end, const BlockRequest &block)
{
	const ReceiverState &receiver = cell.receiver(end);
	uint64_t received = UINT64_MAX, moved_ns = icepath_now_ns();
	while (receiver.finished.load(std::memory_order_acquire) != block.block + 1) {
		const uint64_t now_ns = icepath_now_ns();
		if (now_ns >= block.cancel_ns)
			return; // the receiver's own watchdog ends the receiver
		if (const uint64_t count = receiver.received.load(std::memory_order_relaxed); count != received) {
			received = count;
			moved_ns = now_ns;
		} else if (now_ns - moved_ns >= kQuietNs && all_are_done(cell, block)) {
			cell.sender(end).closing.store(block.block + 1, std::memory_order_release);
			cell.payloads.prepare(cell.send_buffer, kClosingSeq, 0);
			icepath_send out{};
			out.data = cell.send_buffer;
			out.bytes = cell.payloads.bytes();
			if (end.endpoint->send(out) != ICEPATH_OK)
				return;
			moved_ns = now_ns;
		}
		const timespec pause = to_timespec(kLookEveryNs);
		nanosleep(&pause, nullptr);
	}
}

class Taker final : public Steps {
public:
	Taker(Cell &cell, const BlockRequest &block) : cell_(cell), block_(block), open_(cell.ends.size())
	{
		for (ChannelEnd &end : cell.ends)
			incoming_.push_back({end, cell.sender(end), cell.receiver(end)});
	}

	bool begin() override
	{
		tell_ready(cell_, block_);
		return true;
	}

	bool take(const Arrival &arrival) override
	{
		Incoming &first = incoming_.front();
		// `closing` matters only to messages too short for a whole seq, which a fan-in doesn't have.
		const bool closing = first.sender.closing.load(std::memory_order_acquire) == block_.block + 1;
		const Payloads::Checked checked =
			cell_.payloads.verify(arrival.place, arrival.message.bytes, first.expected, 0, closing);
		if (const int status = give_back(cell_, arrival.place); status != ICEPATH_OK)
			return end(status, first.end, "giving message {} back", outcome.recvs);
		if (cell_.lossy && checked.verdict == Payloads::Verdict::OtherBlock)
			return true; // arrived after its block was given up
		Incoming *const found = owner(incoming_, checked, cell_.lossy);
		if (!found)
			return true;
		Incoming &from = *found;
		if (cell_.lossy && checked.verdict == Payloads::Verdict::Closing) {
			from.ended = true;
		} else {
			from.end.recvs[from.recvs++] = stamp_of(arrival, checked, block_);
			outcome.recvs++;
			from.state.received.store(from.recvs, std::memory_order_relaxed);
			spin_for(block_.levels.receiver_busy_ns);
			from.expected = checked.verdict == Payloads::Verdict::Intact ? checked.seq + 1 : from.expected + 1;
			const uint64_t last_seq = from.sender.last_seq.load(std::memory_order_acquire);
			from.ended = (cell_.lossy ? checked.seq == last_seq : from.recvs > last_seq) ||
						 from.recvs == cell_.memory.capacity();
		}
		if (from.ended) {
			from.state.finished.store(block_.block + 1, std::memory_order_release);
			open_--;
		}
		return open_ > 0;
	}

	bool fail(int status) override
	{
		return end(status, incoming_.front().end, "waiting for message {}", outcome.recvs);
	}

private:
	Cell &cell_;
	const BlockRequest &block_;
	std::vector<Incoming> incoming_;
	size_t open_; // senders that haven't ended
};

} // namespace

Outcome send_one_way(Cell &cell, const BlockRequest &block)
{
	Outcome outcome;
	Ending ending(block, cell.slots, cell.memory.head());
	const bool paced = block.rate_hz > 0;
	const double period_ns = paced ? 1e9 / block.rate_hz : 0;
	const uint64_t burst = block.levels.demand;
	const uint64_t start_ns = start_of_schedule(cell, block, period_ns);
	const auto due_ns = [&](uint64_t seq) {
		return start_ns + static_cast<uint64_t>(static_cast<double>(seq - seq % burst) * period_ns);
	};
	std::vector<Outgoing> copies;
	for (ChannelEnd &end : cell.ends)
		copies.push_back({end, nullptr, {}});
	for (uint64_t seq = 0;; seq++) {
		for (Outgoing &copy : copies) {
			if (const int status = borrow(cell, copy.end, copy.place); status != ICEPATH_OK) {
				end_by(outcome, status, *copy.end.endpoint, fmt::format("borrowing a slot for message {}", seq));
				return outcome;
			}
			cell.payloads.prepare(copy.place, seq, 0);
			copy.message = {};
			copy.message.data = copy.place;
			copy.message.bytes = cell.payloads.bytes();
		}
		const uint64_t intended_ns = due_ns(seq);
		if (paced)
			wait_until(intended_ns);
		// The receiver sleeps until the next message, so it must know which is the last before that one is sent.
		const bool last = ending.is_last(seq, icepath_now_ns() + due_ns(seq + 1) - intended_ns);
		if (last)
			cell.sender(cell.only()).last_seq.store(seq, std::memory_order_release);

		const uint64_t send_ns = icepath_now_ns();
		spin_for(block.levels.sender_user_ns);
		for (Outgoing &copy : copies)
			if (const int status = send_from(cell, copy.end, copy.place, copy.message); status != ICEPATH_OK) {
				end_by(outcome, status, *copy.end.endpoint, fmt::format("sending message {}", seq));
				return outcome;
			}
		for (Outgoing &copy : copies)
			copy.end.sends[outcome.sends] = stamp_of(copy.message, seq, paced ? intended_ns : send_ns, send_ns, block);
		outcome.sends++;
		if (last) {
			outcome.end = ending.why();
			return outcome;
		}
	}
}

Outcome receive_one_way(Cell &cell, const BlockRequest &block) { return receive(cell, Taker(cell, block)); }

void close_one_way(Cell &cell, const BlockRequest &block)
{
	for (ChannelEnd &end : cell.ends)
		close(cell, end, block);
}

} // namespace icepath::worker
