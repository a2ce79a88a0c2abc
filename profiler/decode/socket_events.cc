// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/socket_events.h"

#include <algorithm>
#include <span>

#include "profiler/decode/event_search.h"
#include "profiler/path/observations.h"

namespace icepath::decode {
namespace {

bool was_off_between(const Observations &seen, uint32_t tid, uint64_t begin_ns, uint64_t end_ns)
{
	const auto thread = seen.threads.find(tid);
	return thread != seen.threads.end() && std::ranges::any_of(thread->second.off, [&](const OffCpu &off) {
			   return off.out_ns < end_ns && off.in_ns > begin_ns;
		   });
}

// The last waking within [begin, end] by a task outside the cell, of a receiver that fell asleep while asking.
const OffCpu *woken_by_another(const Observations &seen, const Transfer &transfer, uint64_t begin_ns, uint64_t end_ns)
{
	const auto receiver = seen.threads.find(transfer.to);
	if (receiver == seen.threads.end() || transfer.polls)
		return nullptr;
	const OffCpu *found = nullptr;
	for (const OffCpu &off : receiver->second.off)
		if (!off.preempted && off.out_ns >= transfer.ask.at_ns && off.waking_ns >= begin_ns &&
			off.waking_ns <= end_ns && off.waker_context == ICEPATH_CONTEXT_TASK &&
			!seen.threads.contains(off.waker_tid))
			found = &off;
	return found;
}

void set_ready(const OffCpu &woken, Transfer &transfer)
{
	transfer.ready = Mark{woken.waking_ns, {Evidence::Source::Record, woken.record}, Provenance::Paired};
	transfer.ready_tid = woken.waker_tid;
	transfer.ready_context = woken.waker_context;
}

// Events by the stream offset that they complete. Offsets are unwrapped from 32 bits and only grow, so a retransmission
// covers nothing new.
class Stream {
public:
	Stream(const std::vector<SocketEvent> &events, uint32_t base) : events_(events)
	{
		int64_t reached = 0;
		for (const SocketEvent &event : events_) {
			if (event.has_stream_end) {
				auto step = static_cast<int32_t>(event.stream_end - (base + static_cast<uint32_t>(reached)));
				reached = std::max(reached, reached + step);
			}
			reached_.push_back(reached);
		}
	}

	const SocketEvent *first_covering(uint64_t offset) const
	{
		auto found = std::ranges::partition_point(
			reached_, [&](int64_t reached) { return static_cast<uint64_t>(reached) < offset; });
		return found == reached_.end() ? nullptr : &events_[found - reached_.begin()];
	}

	uint64_t reached_before(uint64_t at_ns) const
	{
		const auto first =
			std::ranges::partition_point(events_, [&](const SocketEvent &one) { return one.at_ns < at_ns; });
		return first == events_.begin() ? 0 : static_cast<uint64_t>(reached_[first - events_.begin() - 1]);
	}

private:
	const std::vector<SocketEvent> &events_;
	std::vector<int64_t> reached_;
};

// The sequence number of message 0's first byte. The block's first packet begins with it, within the sending call or,
// if that held it back (TCP_CORK), after it. Nothing where an earlier packet may be lost, or where that packet
// retransmits an earlier message: then more bytes had been sent before some later call than had been given.
std::optional<uint32_t> first_byte(const std::vector<SocketEvent> &device, const Observations &seen,
								   const FlowMessages &flow)
{
	if (device.empty() || flow.messages.empty() || flow.payload_bytes == 0)
		return {};
	const FlowMessage &first = flow.messages.front();
	const SocketEvent &packet = device.front();
	if (first.seq != 0 || !has_call(first.transfer) || packet.at_ns < first.transfer.call->at_ns ||
		!packet.has_stream_end || packet.bytes == 0 || lost_within(seen, flow.begin_ns, packet.at_ns))
		return {};
	const uint32_t base = packet.stream_end - packet.bytes;
	const Stream sent(device, base);
	for (const FlowMessage &message : flow.messages) {
		const uint64_t before = message.transfer.call ? sent.reached_before(message.transfer.call->at_ns) : 0;
		if (before != 0 && (before - 1) / flow.payload_bytes >= message.seq)
			return {};
	}
	return base;
}

// Matches a message that the sender didn't announce but one other task did: a kernel thread that sends for it
// (io_uring's SQPOLL). Announcements of several such tasks within [begin, end] match nothing.
bool match_kernel_thread(const std::vector<SocketEvent> &others, uint64_t begin_ns, uint64_t end_ns, Transfer &transfer)
{
	const auto within = all_within(others, begin_ns, end_ns);
	auto of_another = [&](const SocketEvent &one) { return one.tid != within.back().tid; };
	if (within.empty() || std::ranges::any_of(within, of_another))
		return false;
	set_ready(within.back(), Provenance::Paired, nullptr, transfer);
	return true;
}

// A sender that polls sees that its message was sent before it sends the next one.
uint64_t sent_by(const FlowMessages &flow, size_t index)
{
	const bool is_last = index + 1 == flow.messages.size();
	return is_last ? UINT64_MAX : flow.messages[index + 1].sent->send_ns;
}

// Matches a message that was handed in memory to a kernel thread that was awake. If nothing announced it before a
// polling receiver had it, it was ready by then.
void match_without_call(const std::vector<SocketEvent> &others, uint64_t sent_by_ns, FlowMessage &message)
{
	Transfer &transfer = message.transfer;
	const uint64_t begin_ns = message.sent->send_ns;
	if (!match_kernel_thread(others, begin_ns, sent_by_ns, transfer) &&
		!all_within(others, begin_ns, sent_by_ns).empty())
		return;
	// Its dequeueing, if recorded: an announcement may come between that and the return.
	const auto &had = transfer.taken ? transfer.taken : transfer.take_return;
	if (!had || (transfer.ready && transfer.ready->at_ns <= had->at_ns))
		return;
	transfer.ready = had;
	transfer.ready_since_ns = begin_ns;
}

} // namespace

void match_local(const SocketEvents &events, const Observations &seen, FlowMessages &flow)
{
	const auto in_task = [&](const std::vector<SocketEvent> &all) {
		auto found = of_socket(all, flow.receiver_key);
		std::erase_if(found, [](const SocketEvent &one) { return one.context != ICEPATH_CONTEXT_TASK; });
		return found;
	};
	auto queued = in_task(events.enqueued), ready = in_task(events.ready), others = ready;
	for (auto *own : {&queued, &ready})
		std::erase_if(*own, [&](const SocketEvent &one) { return one.tid != flow.sender; });
	// Other threads of the cell send their own messages.
	std::erase_if(others, [&](const SocketEvent &one) { return seen.threads.contains(one.tid); });
	for (size_t i = 0; i < flow.messages.size(); i++) {
		Transfer &transfer = flow.messages[i].transfer;
		const uint64_t sent_by_ns = transfer.polls ? sent_by(flow, i) : 0;
		if (!transfer.call && transfer.polls)
			match_without_call(others, sent_by_ns, flow.messages[i]);
		if (!has_call(transfer))
			continue;
		const uint64_t begin_ns = transfer.call->at_ns, end_ns = transfer.call_return->at_ns;
		// The part that arrives last decides. It enters the queue before it is announced, unless the sender lost its
		// CPU in between.
		const SocketEvent *last = last_within(ready, begin_ns, end_ns);
		// Each part is enqueued and announced. If another announcement lies between the two, the last part's enqueueing
		// isn't known.
		const SocketEvent *entered = last_within(queued, begin_ns, end_ns);
		if (entered && last && all_within(ready, entered->at_ns, last->at_ns).size() > 1)
			entered = nullptr;
		if (entered && (!last || !was_off_between(seen, flow.sender, entered->at_ns, last->at_ns)))
			last = entered;
		if (last) {
			set_ready(*last, Provenance::Exact, nullptr, transfer);
			continue;
		}
		// A call that may sleep lasts until the kernel thread has sent. Without an announcement, that thread's waking
		// of the receiver marks "ready".
		if (!all_within(others, begin_ns, end_ns).empty())
			match_kernel_thread(others, begin_ns, end_ns, transfer);
		else if (const OffCpu *woken = woken_by_another(seen, transfer, begin_ns, end_ns))
			set_ready(*woken, transfer);
		else // perhaps the call only woke that thread
			transfer.by = ByCall{match_kernel_thread(others, begin_ns, sent_by_ns, transfer)};
	}
}

void match_carried(const SocketEvents &events, const Observations &seen, FlowMessages &flow)
{
	auto ready = of_socket(events.ready, flow.receiver_key);
	std::erase_if(ready, [&](const SocketEvent &one) {
		return one.context != ICEPATH_CONTEXT_TASK || seen.threads.contains(one.tid);
	});
	uint64_t in_flight_until_ns = 0;
	for (size_t i = 0; i < flow.messages.size(); ++i) {
		Transfer &transfer = flow.messages[i].transfer;
		if (!has_call(transfer))
			continue;
		const uint64_t begin_ns = transfer.call->at_ns,
					   end_ns = transfer.take_return ? transfer.take_return->at_ns : UINT64_MAX;
		const auto next = i + 1 < flow.messages.size() ? flow.messages[i + 1].transfer.call : std::optional<Mark>();
		const bool alone = begin_ns >= in_flight_until_ns && (!next || next->at_ns >= end_ns);
		in_flight_until_ns = std::max(in_flight_until_ns, end_ns);
		if (!transfer.take_return)
			continue;
		if (const SocketEvent *last = alone ? last_within(ready, begin_ns, end_ns) : nullptr) {
			set_ready(*last, Provenance::Paired, nullptr, transfer);
		} else if (const OffCpu *woken = woken_by_another(seen, transfer, begin_ns, end_ns)) {
			set_ready(*woken, transfer);
		}
	}
}

void match_stream(const SocketEvents &events, const Observations &seen, FlowMessages &flow)
{
	const auto device = of_socket(events.device, flow.sender_key);
	const auto ready = of_socket(events.ready, flow.receiver_key);
	const auto enqueued = of_socket(events.enqueued, flow.receiver_key);
	const std::optional<uint32_t> base = first_byte(device, seen, flow);
	if (!base)
		return;
	const Stream queued(device, *base), announced(ready, *base), arrived(enqueued, *base);
	for (FlowMessage &message : flow.messages) {
		if (message.seq >= static_cast<uint64_t>(INT64_MAX) / flow.payload_bytes)
			continue;
		const uint64_t end = (message.seq + 1) * flow.payload_bytes;
		if (auto *event = queued.first_covering(end))
			set_device(*event, seen, message.transfer);
		// Bytes that came out of order enter the queue together with those they waited for, without a record of their
		// own.
		const SocketEvent *event = announced.first_covering(end);
		if (auto *earlier = arrived.first_covering(end); earlier && (!event || earlier->at_ns < event->at_ns))
			event = earlier;
		if (event)
			set_ready(*event, Provenance::Exact, &seen, message.transfer);
	}
}

namespace {

// Messages in flight together, told apart by the order of their announcements.
struct Chain {
	uint64_t begin_ns = 0;
	size_t announced = 0; // parts
	std::vector<Transfer *> later; // all but the first, which was alone
};

// Clears a chain's matches if the numbers of announced and queued parts differ: then no announcement can be assigned.
void check_chains(const std::vector<Chain> &chains, const std::vector<SocketEvent> &ready)
{
	for (size_t i = 0; i < chains.size(); ++i) {
		const uint64_t end_ns = i + 1 < chains.size() ? chains[i + 1].begin_ns - 1 : UINT64_MAX;
		if (all_within(ready, chains[i].begin_ns, end_ns).size() != chains[i].announced)
			for (Transfer *transfer : chains[i].later)
				clear_ready(*transfer);
	}
}

// The announcement of the last part; each part takes the first one left from `next` on. nullptr: there are too few.
// `in_calls` becomes false if a part wasn't announced by its CPU before the next part was queued.
const SocketEvent *last_announced(std::span<const SocketEvent> parts, uint64_t return_ns,
								  const std::vector<SocketEvent> &ready, std::vector<SocketEvent>::const_iterator &next,
								  bool &in_calls)
{
	const SocketEvent *last = nullptr;
	for (size_t i = 0; i < parts.size(); ++i) {
		next =
			std::partition_point(next, ready.end(), [&](const SocketEvent &one) { return one.at_ns < parts[i].at_ns; });
		if (next == ready.end())
			return nullptr;
		last = &*next++;
		const uint64_t by = i + 1 < parts.size() ? parts[i + 1].at_ns : return_ns;
		in_calls &= last->cpu == parts[i].cpu && last->at_ns <= by;
	}
	return last;
}

} // namespace

void match_datagrams(const SocketEvents &events, const Observations &seen, FlowMessages &flow)
{
	std::vector<Chain> chains;
	auto device = of_socket(events.device, flow.sender_key);
	std::erase_if(device, [&](const SocketEvent &one) { return one.tid != flow.sender; });
	const auto ready = of_socket(events.ready, flow.receiver_key);
	auto next = ready.begin();
	uint64_t chain_begin_ns = 0, in_flight_until_ns = 0; // begin and end of the time in which only the order decides
	bool strays = false; // parts of an incomplete message may still be announced
	for (FlowMessage &message : flow.messages) {
		Transfer &transfer = message.transfer;
		if (!has_call(transfer))
			continue;
		auto parts = all_within(device, transfer.call->at_ns, transfer.call_return->at_ns);
		if (parts.empty())
			continue;
		if (flow.parts == 1)
			parts = parts.last(1); // the last fragment, if the device's MTU splits the datagram
		const uint64_t begin_ns = parts.front().at_ns;
		set_device(parts.back(), seen, transfer);
		// A datagram that isn't received while later ones are was dropped before it was queued, and never announced.
		const uint64_t by_ns = transfer.take_return ? transfer.take_return->at_ns : 0;
		if (!message.received || by_ns < parts.back().at_ns) {
			strays |= flow.parts > 1;
			continue;
		}
		if (parts.size() != flow.parts) {
			strays = true;
			continue;
		}
		const bool alone = begin_ns >= in_flight_until_ns;
		if (alone) {
			chain_begin_ns = begin_ns;
			chains.push_back({begin_ns, 0, {}});
		} else {
			transfer.matched_since_ns = chain_begin_ns;
			chains.back().later.push_back(&transfer);
		}
		chains.back().announced += parts.size();
		// A polling receiver may take it before its announcement: it is in flight until both have happened.
		in_flight_until_ns = std::max(in_flight_until_ns, by_ns);
		bool in_calls = alone; // each part was announced by its CPU before the next was queued
		const SocketEvent *last = last_announced(parts, transfer.call_return->at_ns, ready, next, in_calls);
		if (!last)
			continue;
		in_flight_until_ns = std::max(in_flight_until_ns, last->at_ns + 1);
		if (strays) {
			// The match holds only if nothing else was announced in that time.
			const auto announced = all_within(ready, begin_ns, transfer.call_return->at_ns);
			if (!in_calls || announced.size() != parts.size())
				continue;
			strays = false;
		}
		set_ready(*last, in_calls ? Provenance::Exact : Provenance::Paired, &seen, transfer);
	}
	check_chains(chains, ready);
}

void match_queue(const SocketEvents &events, FlowMessages &flow)
{
	auto queued = events.enqueued;
	// Enqueued by the sender itself or, if the message queue was full, by the thread that made room while the sender
	// slept in its call.
	std::erase_if(queued, [&](const SocketEvent &one) {
		const bool own = one.tid == flow.sender && (one.woken == 0 || one.woken == flow.receiver);
		const bool for_it = one.tid != flow.sender && one.woken == flow.sender;
		return !(own || for_it) || one.socket != 0 || one.context != ICEPATH_CONTEXT_TASK;
	});
	for (SocketEvent &one : queued)
		one.tid = flow.sender;
	for (FlowMessage &message : flow.messages)
		if (Transfer &transfer = message.transfer; has_call(transfer))
			// The part that arrives last decides.
			if (auto *last = last_within(queued, transfer.call->at_ns, transfer.call_return->at_ns))
				set_ready(*last, Provenance::Exact, nullptr, transfer);
}

void match_taken(const SocketEvents &events, FlowMessages &flow)
{
	auto taken = events.taken;
	std::erase_if(taken, [&](const SocketEvent &one) { return one.tid != flow.receiver; });
	for (FlowMessage &message : flow.messages) {
		Transfer &transfer = message.transfer;
		if (!transfer.take_call || !transfer.take_return)
			continue;
		if (auto *last = last_within(taken, transfer.take_call->at_ns, transfer.take_return->at_ns))
			transfer.taken = mark_of(*last);
	}
}

} // namespace icepath::decode
