// SPDX-License-Identifier: Apache-2.0
// Closed loop: the initiator sends message k + 1 only after all answers to message k.
#include "profiler/worker/callback.h"

namespace icepath::worker {
namespace {

// The same block for the answers: its warm-up counts them.
BlockRequest of_answers(const BlockRequest &block)
{
	BlockRequest answers = block;
	answers.warm_up = static_cast<uint32_t>(block.warm_up * block.levels.responses);
	return answers;
}

class Initiator final : public Steps {
public:
	Initiator(Cell &cell, const BlockRequest &block)
		: cell_(cell), end_(cell.only()), block_(block), answers_(of_answers(block)),
		  ending_(block, cell.slots, cell.memory.head()), now_ns_(icepath_now_ns())
	{}

	bool begin() override { return send(0); }

	bool take(const Arrival &arrival) override
	{
		now_ns_ = arrival.recv_ns;
		const Payloads::Checked checked = cell_.payloads.verify(arrival.place, arrival.message.bytes, outcome.recvs, 1);
		if (const int status = give_back(cell_, arrival.place); status != ICEPATH_OK)
			return end(status, end_, "giving the answer to message {} back", seq_);
		end_.recvs[outcome.recvs++] = stamp_of(arrival, checked, answers_);
		if (outcome.recvs != (seq_ + 1) * block_.levels.responses)
			return true;
		if (last_) {
			outcome.end = ending_.why();
			return false;
		}
		seq_++;
		return send(arrival.thread);
	}

	bool fail(int status) override { return end(status, end_, "waiting for the answer to message {}", seq_); }

private:
	bool send(uint32_t thread)
	{
		void *to = nullptr;
		int status = borrow(cell_, end_, to);
		if (status != ICEPATH_OK)
			return end(status, end_, "borrowing a slot for message {}", seq_);
		cell_.payloads.prepare(to, seq_, 0);
		last_ = ending_.is_last(seq_, now_ns_);
		if (last_)
			cell_.sender(end_).last_seq.store(seq_, std::memory_order_release);
		icepath_send out{};
		out.data = to;
		out.bytes = cell_.payloads.bytes();

		const uint64_t send_ns = icepath_now_ns();
		spin_for(block_.levels.sender_user_ns);
		status = send_from(cell_, end_, to, out);
		if (status != ICEPATH_OK)
			return end(status, end_, "sending message {}", seq_);
		end_.sends[outcome.sends++] = stamp_of(out, seq_, send_ns, send_ns, block_, thread);
		return true;
	}

	Cell &cell_;
	ChannelEnd &end_;
	const BlockRequest &block_;
	const BlockRequest answers_;
	Ending ending_;
	uint64_t seq_ = 0, now_ns_;
	bool last_ = false;
};

class Responder final : public Steps {
public:
	Responder(Cell &cell, const BlockRequest &block)
		: cell_(cell), end_(cell.only()), block_(block), answers_(of_answers(block)),
		  last_seq_(cell.sender(end_).last_seq)
	{}

	bool begin() override
	{
		tell_ready(cell_, block_);
		return prepare();
	}

	bool take(const Arrival &arrival) override
	{
		int status = ICEPATH_OK;
		spin_for(block_.levels.receiver_busy_ns);
		for (uint64_t answer = seq_ * block_.levels.responses;;) {
			const uint64_t send_ns = icepath_now_ns();
			status = send_from(cell_, end_, to_, out_);
			if (status != ICEPATH_OK)
				break;
			end_.sends[outcome.sends++] = stamp_of(out_, answer, send_ns, send_ns, answers_, arrival.thread);
			if (++answer == (seq_ + 1) * block_.levels.responses || (status = borrow(cell_, end_, to_)) != ICEPATH_OK)
				break;
			fill(answer);
		}
		const Payloads::Checked checked = cell_.payloads.verify(arrival.place, arrival.message.bytes, seq_, 0);
		end_.recvs[outcome.recvs++] = stamp_of(arrival, checked, block_);
		if (status == ICEPATH_OK)
			status = give_back(cell_, arrival.place);
		if (status != ICEPATH_OK)
			return end(status, end_, "answering message {}", seq_);
		if (seq_ >= last_seq_.load(std::memory_order_acquire))
			return false;
		return ++seq_ < messages_of(block_) && prepare();
	}

	bool fail(int status) override { return end(status, end_, "waiting for message {}", seq_); }

private:
	bool prepare()
	{
		if (const int status = borrow(cell_, end_, to_); status != ICEPATH_OK)
			return end(status, end_, "borrowing a slot for answer {}", seq_);
		fill(seq_ * block_.levels.responses);
		return true;
	}

	void fill(uint64_t answer)
	{
		cell_.payloads.prepare(to_, answer, 1);
		out_ = {};
		out_.data = to_;
		out_.bytes = cell_.payloads.bytes();
	}

	Cell &cell_;
	ChannelEnd &end_;
	const BlockRequest &block_;
	const BlockRequest answers_;
	const std::atomic<uint64_t> &last_seq_;
	uint64_t seq_ = 0;
	void *to_ = nullptr; // the next answer
	icepath_send out_{};
};

} // namespace

Outcome initiate(Cell &cell, const BlockRequest &block) { return receive(cell, Initiator(cell, block)); }

Outcome respond(Cell &cell, const BlockRequest &block) { return receive(cell, Responder(cell, block)); }

} // namespace icepath::worker
