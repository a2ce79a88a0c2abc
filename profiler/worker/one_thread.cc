// SPDX-License-Identifier: Apache-2.0
// Both ends in one thread: the cost of a message without a handover between threads. Nothing receives while a message
// is sent, so sending one that doesn't fit into the transport's queue ends only by the block's deadline.
#include <fmt/format.h>

#include "profiler/worker/block_loop.h"

namespace icepath::worker {
namespace {

// One end of the channel, and the block's outcome there.
struct End {
	Cell &cell;
	Outcome &outcome;
	uint32_t direction; // of the messages that it sends
	void *to = nullptr;
	const void *from = nullptr;
	icepath_send out{};
	icepath_recv in{};
	ChannelEnd &channel() const { return cell.only(); }
};

class Alone {
public:
	Alone(Cell &near, Cell &far, const BlockRequest &block, Outcome &near_told, Outcome &far_told)
		: near_{near, near_told, 0}, far_{far, far_told, 1}, block_(block),
		  ending_(block, near.slots, near.memory.head())
	{}

	void exchange();
	void pass();

private:
	// They return false when the block has failed.
	bool prepare(End &end, uint64_t seq)
	{
		if (!good(end, borrow(end.cell, end.channel(), end.to), "borrowing a slot for", seq))
			return false;
		end.cell.payloads.prepare(end.to, seq, end.direction);
		end.out = {};
		end.out.data = end.to;
		end.out.bytes = end.cell.payloads.bytes();
		return true;
	}

	bool send(End &end, uint64_t seq)
	{
		return good(end, send_from(end.cell, end.channel(), end.to, end.out), "sending", seq);
	}

	bool take(End &end, uint64_t seq, uint64_t &recv_ns)
	{
		end.in = {};
		end.in.size = sizeof(end.in);
		end.in.data = end.cell.receive_buffer;
		end.in.capacity = end.cell.payloads.bytes();
		const int status = recv_at(end.cell, end.from, end.in);
		recv_ns = icepath_now_ns();
		return good(end, status, "waiting for", seq);
	}

	bool keep(const End &giver, End &taker, uint64_t seq, uint64_t intended_ns, uint64_t send_ns, uint64_t recv_ns)
	{
		const Payloads::Checked checked = taker.cell.payloads.verify(taker.from, taker.in.bytes, seq, giver.direction);
		giver.channel().sends[giver.outcome.sends++] = stamp_of(giver.out, seq, intended_ns, send_ns, block_);
		taker.channel().recvs[taker.outcome.recvs++] = stamp_of({taker.in, taker.from, recv_ns}, checked, block_);
		return good(taker, give_back(taker.cell, taker.from), "giving back", seq);
	}

	bool good(const End &end, int status, const char *doing, uint64_t seq)
	{
		if (status == ICEPATH_OK)
			return true;
		Outcome &outcome = near_.outcome;
		end_by(outcome, status, *end.channel().endpoint,
			   fmt::format("{} {} {}", doing, end.direction == 0 ? "message" : "answer", seq));
		if (status == ICEPATH_CANCELLED)
			outcome.message +=
				fmt::format(": one thread has both ends, so nobody takes a message while it is sent, and there may "
							"be no room for {} bytes: give it smaller ones (-s), or two threads (--between threads)",
							end.cell.payloads.bytes());
		return false;
	}

	End near_, far_;
	const BlockRequest &block_;
	Ending ending_;
};

void Alone::exchange()
{
	uint64_t now_ns = icepath_now_ns();
	for (uint64_t seq = 0;; seq++) {
		if (!prepare(near_, seq) || !prepare(far_, seq))
			return;
		const bool last = ending_.is_last(seq, now_ns);
		const uint64_t send_ns = icepath_now_ns();
		spin_for(block_.levels.sender_user_ns);
		uint64_t recv_ns = 0;
		if (!send(near_, seq) || !take(far_, seq, recv_ns))
			return;
		spin_for(block_.levels.receiver_busy_ns);
		const uint64_t answer_ns = icepath_now_ns();
		if (!send(far_, seq) || !take(near_, seq, now_ns))
			return;
		if (!keep(near_, far_, seq, send_ns, send_ns, recv_ns) || !keep(far_, near_, seq, answer_ns, answer_ns, now_ns))
			return;
		if (last)
			break;
	}
	near_.outcome.end = ending_.why();
}

void Alone::pass()
{
	const bool paced = block_.rate_hz > 0;
	const double period_ns = paced ? 1e9 / block_.rate_hz : 0;
	const uint64_t start_ns = start_of(block_, period_ns);
	for (uint64_t seq = 0;; seq++) {
		if (!prepare(near_, seq))
			return;
		const uint64_t due_ns = start_ns + static_cast<uint64_t>(static_cast<double>(seq) * period_ns);
		if (paced)
			wait_until(due_ns);
		const bool last = ending_.is_last(seq, icepath_now_ns());
		const uint64_t send_ns = icepath_now_ns();
		spin_for(block_.levels.sender_user_ns);
		uint64_t recv_ns = 0;
		if (!send(near_, seq) || !take(far_, seq, recv_ns) ||
			!keep(near_, far_, seq, paced ? due_ns : send_ns, send_ns, recv_ns))
			return;
		spin_for(block_.levels.receiver_busy_ns);
		if (last)
			break;
	}
	near_.outcome.end = ending_.why();
}

} // namespace

void exchange_in_one_thread(Cell &near, Cell &far, const BlockRequest &block, Outcome &near_told, Outcome &far_told)
{
	Alone(near, far, block, near_told, far_told).exchange();
}

void pass_in_one_thread(Cell &near, Cell &far, const BlockRequest &block, Outcome &near_told, Outcome &far_told)
{
	Alone(near, far, block, near_told, far_told).pass();
}

} // namespace icepath::worker
