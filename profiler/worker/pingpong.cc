// SPDX-License-Identifier: Apache-2.0
// Closed loop: the initiator sends message k + 1 only after all answers to message k.
#include <fmt/format.h>

#include "profiler/worker/block_loop.h"

namespace icepath::worker {
namespace {

// The same block for the answers: its warm-up counts them.
BlockRequest of_answers(const BlockRequest &block)
{
	BlockRequest answers = block;
	answers.warm_up = static_cast<uint32_t>(block.warm_up * block.levels.responses);
	return answers;
}

} // namespace

Outcome initiate(Cell &cell, const BlockRequest &block)
{
	Outcome outcome;
	ChannelEnd &end = cell.only();
	const BlockRequest answers = of_answers(block);
	Ending ending(block, cell.slots, cell.memory.head());
	uint64_t now_ns = icepath_now_ns();
	for (uint64_t seq = 0;; seq++) {
		void *to = nullptr;
		int status = borrow(cell, end, to);
		if (status != ICEPATH_OK) {
			end_by(outcome, status, *end.endpoint, fmt::format("borrowing a slot for message {}", seq));
			return outcome;
		}
		cell.payloads.prepare(to, seq, 0);
		const bool last = ending.is_last(seq, now_ns);
		if (last)
			cell.sender(end).last_seq.store(seq, std::memory_order_release);
		icepath_send out{};
		out.data = to;
		out.bytes = cell.payloads.bytes();

		const uint64_t send_ns = icepath_now_ns();
		spin_for(block.levels.sender_user_ns);
		status = send_from(cell, end, to, out);
		if (status != ICEPATH_OK) {
			end_by(outcome, status, *end.endpoint, fmt::format("sending message {}", seq));
			return outcome;
		}
		end.sends[outcome.sends++] = stamp_of(out, seq, send_ns, send_ns, block);
		for (uint64_t answer = seq * block.levels.responses; answer < (seq + 1) * block.levels.responses; answer++) {
			icepath_recv in{};
			in.data = cell.receive_buffer;
			in.capacity = cell.payloads.bytes();
			const void *from = nullptr;
			status = recv_at(cell, from, in);
			const uint64_t recv_ns = now_ns = icepath_now_ns();
			if (status != ICEPATH_OK) {
				end_by(outcome, status, *end.endpoint, fmt::format("waiting for the answer to message {}", seq));
				return outcome;
			}
			const Payloads::Checked checked = cell.payloads.verify(from, in.bytes, answer, 1);
			if (status = give_back(cell, from); status != ICEPATH_OK) {
				end_by(outcome, status, *end.endpoint, fmt::format("giving the answer to message {} back", seq));
				return outcome;
			}
			end.recvs[outcome.recvs++] = stamp_of(in, checked, recv_ns, answers);
		}
		if (last) {
			outcome.end = ending.why();
			return outcome;
		}
	}
}

Outcome respond(Cell &cell, const BlockRequest &block)
{
	Outcome outcome;
	ChannelEnd &end = cell.only();
	const std::atomic<uint64_t> &last_seq = cell.sender(end).last_seq;
	const BlockRequest answers = of_answers(block);
	tell_ready(cell, block);
	for (uint64_t seq = 0; seq < messages_of(block); seq++) {
		void *to = nullptr;
		int status = borrow(cell, end, to);
		if (status != ICEPATH_OK) {
			end_by(outcome, status, *end.endpoint, fmt::format("borrowing a slot for answer {}", seq));
			return outcome;
		}
		cell.payloads.prepare(to, seq * block.levels.responses, 1);
		icepath_send out{};
		out.data = to;
		out.bytes = cell.payloads.bytes();
		icepath_recv in{};
		in.data = cell.receive_buffer;
		in.capacity = cell.payloads.bytes();

		const void *from = nullptr;
		status = recv_at(cell, from, in);
		const uint64_t recv_ns = icepath_now_ns();
		if (status != ICEPATH_OK) {
			end_by(outcome, status, *end.endpoint, fmt::format("waiting for message {}", seq));
			return outcome;
		}
		spin_for(block.levels.receiver_busy_ns);
		for (uint64_t answer = seq * block.levels.responses;;) {
			const uint64_t send_ns = icepath_now_ns();
			status = send_from(cell, end, to, out);
			if (status != ICEPATH_OK)
				break;
			end.sends[outcome.sends++] = stamp_of(out, answer, send_ns, send_ns, answers);
			if (++answer == (seq + 1) * block.levels.responses || (status = borrow(cell, end, to)) != ICEPATH_OK)
				break;
			cell.payloads.prepare(to, answer, 1);
			out = {};
			out.data = to;
			out.bytes = cell.payloads.bytes();
		}
		const Payloads::Checked checked = cell.payloads.verify(from, in.bytes, seq, 0);
		end.recvs[outcome.recvs++] = stamp_of(in, checked, recv_ns, block);
		if (status == ICEPATH_OK)
			status = give_back(cell, from);
		if (status != ICEPATH_OK) {
			end_by(outcome, status, *end.endpoint, fmt::format("answering message {}", seq));
			return outcome;
		}
		if (seq >= last_seq.load(std::memory_order_acquire))
			break;
	}
	return outcome;
}

} // namespace icepath::worker
