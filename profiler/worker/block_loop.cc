// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/block_loop.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

namespace icepath::worker {
namespace {

// Other CPUs write the memory of the slots, so it is read rarely. Other tasks on these CPUs fill the slots too, so a
// few slow messages may be enough.
constexpr uint64_t kLookAtSlotsEvery = 16;
constexpr uint64_t kLookAtSlotsEveryNs = 1'000'000;
// A sleeping thread runs again late by a timer interrupt and a wakeup, so the last part of a wait is spun.
constexpr uint64_t kSpinNs = 60'000;

} // namespace

bool Ending::is_last(uint64_t seq, uint64_t now_ns)
{
	const bool too_few = seq + 1 < uint64_t{block_.warm_up} + block_.at_least;
	if (now_ns >= block_.deadline_ns + (too_few ? kPatienceNs : 0))
		why_ = model::BlockEnd::Deadline;
	else if (shared_.stop.load(std::memory_order_relaxed) == block_.block + 1)
		why_ = model::BlockEnd::Interrupted;
	else if (slots_are_nearly_full(seq, now_ns))
		why_ = model::BlockEnd::LogFull;
	else
		return seq + 1 == messages_of(block_);
	return true;
}

bool Ending::slots_are_nearly_full(uint64_t seq, uint64_t now_ns)
{
	if (seq % kLookAtSlotsEvery != 0 && now_ns < looked_ns_ + kLookAtSlotsEveryNs)
		return false;
	looked_ns_ = now_ns;
	return slots_.nearly_full();
}

void spin_until(uint64_t at_ns)
{
	while (icepath_now_ns() < at_ns)
		;
}

void wait_until(uint64_t at_ns)
{
	if (icepath_now_ns() + kSpinNs < at_ns) {
		const uint64_t wake_ns = at_ns - kSpinNs;
		const timespec wake{static_cast<time_t>(wake_ns / 1'000'000'000), static_cast<long>(wake_ns % 1'000'000'000)};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr);
	}
	spin_until(at_ns);
}

uint64_t start_of(const BlockRequest &block, double period_ns)
{
	const uint64_t soonest_ns = icepath_now_ns() + kStartNs;
	if (block.first_due_ns == 0 || period_ns == 0)
		return soonest_ns;
	if (block.first_due_ns >= soonest_ns)
		return block.first_due_ns;
	const double missed = std::ceil(static_cast<double>(soonest_ns - block.first_due_ns) / period_ns);
	return block.first_due_ns + static_cast<uint64_t>(missed * period_ns);
}

model::SendStamp stamp_of(const icepath_send &message, uint64_t seq, uint64_t intended_ns, uint64_t send_ns,
						  const BlockRequest &block, uint32_t thread)
{
	model::SendStamp stamp{};
	stamp.seq = seq;
	stamp.intended_ns = intended_ns;
	stamp.send_ns = send_ns;
	stamp.call_ns = message.call_ns;
	stamp.publish_ns = message.publish_ns;
	stamp.return_ns = message.return_ns;
	stamp.attempts = message.attempts;
	stamp.flags = (seq < block.warm_up ? model::kStampWarmUp : 0) |
				  ((message.flags & ICEPATH_SEND_COPIED) ? model::kStampCopied : 0) | model::by_thread(thread);
	return stamp;
}

model::RecvStamp stamp_of(const Arrival &arrival, const Payloads::Checked &checked, const BlockRequest &block)
{
	const icepath_recv &message = arrival.message;
	model::RecvStamp stamp{};
	stamp.seq = checked.seq;
	stamp.ask_ns = message.ask_ns;
	stamp.wait_return_ns = message.wait_return_ns;
	stamp.take_call_ns = message.take_call_ns;
	stamp.take_return_ns = message.take_return_ns;
	stamp.observe_ns = message.observe_ns;
	stamp.recv_ns = arrival.recv_ns;
	stamp.attempts = message.attempts;
	stamp.flags = (checked.seq < block.warm_up ? model::kStampWarmUp : 0) |
				  (checked.verdict == Payloads::Verdict::Intact ? 0 : model::kStampBadPayload) |
				  model::by_thread(arrival.thread);
	return stamp;
}

void end_by(Outcome &outcome, int status, const Endpoint &endpoint, const std::string &doing)
{
	outcome.end = model::BlockEnd::Failed;
	switch (status) {
	case ICEPATH_CANCELLED:
		outcome.status = ReplyStatus::Cancelled;
		outcome.message =
			fmt::format("{} had not succeeded a second after the block's deadline, so it was cancelled", doing);
		return;
	case ICEPATH_CLOSED:
		outcome.status = ReplyStatus::PeerDied;
		break;
	default:
		outcome.status = ReplyStatus::Failed;
	}
	outcome.message = fmt::format("{}: {}", doing, endpoint.error());
}

bool Steps::end(int status, const ChannelEnd &end, const char *doing, uint64_t number)
{
	end_by(outcome, status, *end.endpoint, fmt::format(fmt::runtime(doing), number));
	return false;
}

void tell_ready(Cell &cell, const BlockRequest &block)
{
	// Of many senders on one CPU, the later ones see `ready` late.
	constexpr uint64_t kMoreForEachNs = 50'000;
	cell.memory.head().start_ns.store(icepath_now_ns() + kStartNs + cell.peers * kMoreForEachNs,
									  std::memory_order_relaxed);
	for (const ChannelEnd &end : cell.ends) {
		ReceiverState &state = cell.receiver(end);
		state.received.store(0, std::memory_order_relaxed);
		state.ready.store(block.block + 1, std::memory_order_release);
	}
}

} // namespace icepath::worker
