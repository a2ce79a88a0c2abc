// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/called_messages.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include "ebpf/records.h"
#include "profiler/decode/event_search.h"
#include "profiler/decode/readiness_waits.h"
#include "profiler/decode/spans.h"

namespace icepath::decode {
namespace {

// A call with its bytes' place in the stream.
struct Placed {
	const Thread *thread = nullptr; // never nullptr
	const Call *call = nullptr; // never nullptr
	uint64_t given_to = 0;
	bool has_place = true;
	Place place;
	bool contended = false;
	uint64_t alone_ns = 0; // if contended, the end of the last call that overlaps

	uint64_t begin() const { return place.end - std::min(place.end, uint64_t{call->bytes}); }
};

struct Stream {
	std::vector<Placed> gives, takes;
	std::set<const Thread *> givers, takers;
};

// By then each of these threads has shown that it was in no call that overlaps this one: by the end of a later call.
uint64_t known_by(const std::set<const Thread *> &threads, const Placed &placed)
{
	uint64_t by_ns = placed.call->end_ns;
	for (const Thread *thread : threads) {
		if (thread == placed.thread)
			continue;
		const auto later = std::ranges::partition_point(
			thread->calls, [&](const Call &call) { return call.end_ns <= placed.call->end_ns; });
		const uint64_t latest_ns = placed.call->end_ns + kLongestOverlapNs;
		by_ns = std::max(by_ns, later == thread->calls.end() ? latest_ns : std::min(latest_ns, later->end_ns));
	}
	return by_ns;
}

// When a thread may have been in a call whose record is lost: it ended within the loss, and began once its last known
// call before was over.
Spans hidden_calls(const Thread &thread, const std::vector<LossWindow> &lost)
{
	Spans spans;
	for (const LossWindow &window : lost) {
		const auto after = std::ranges::partition_point(
			thread.calls, [&](const Call &call) { return call.begin_ns <= window.begin_ns; });
		const uint64_t since_ns = after == thread.calls.begin() ? 0 : std::prev(after)->end_ns;
		if (since_ns < window.end_ns)
			spans.push_back({since_ns, window.end_ns});
	}
	put_in_order(spans);
	return spans;
}

void find_contended_by_lost(std::vector<Placed> &calls, const std::set<const Thread *> &threads,
							const std::vector<LossWindow> &lost)
{
	if (threads.size() < 2 || lost.empty())
		return;
	for (const Thread *thread : threads) {
		const Spans hidden = hidden_calls(*thread, lost);
		for (Placed &one : calls)
			if (one.thread != thread && overlaps(hidden, one.call->begin_ns, one.call->end_ns)) {
				one.contended = true;
				one.alone_ns = std::max(one.alone_ns, one.call->end_ns);
			}
	}
}

// Calls that overlap calls of other threads, and those that overlap these. Those without a place count as well, and are
// left out then. So do those that may be lost, of threads that are known to use this end.
void find_contended(std::vector<Placed> &calls, const std::set<const Thread *> &threads,
					const std::vector<LossWindow> &lost)
{
	std::ranges::stable_sort(calls, {}, [](const Placed &one) { return one.call->begin_ns; });
	for (auto first = calls.begin(); first != calls.end();) {
		uint64_t end_ns = first->call->end_ns;
		bool several = false;
		auto next = std::next(first);
		for (; next != calls.end() && next->call->begin_ns < end_ns; ++next) {
			several |= next->thread != first->thread;
			end_ns = std::max(end_ns, next->call->end_ns);
		}
		for (; first != next; ++first) {
			first->contended = several;
			first->alone_ns = end_ns;
		}
	}
	find_contended_by_lost(calls, threads, lost);
	std::erase_if(calls, [](const Placed &one) { return !one.has_place; });
}

class Messages {
public:
	Messages(const SocketEvents &events, const Observations &seen, const Peers &peers, const Positions &positions)
		: seen_(seen), positions_(positions), waits_(seen)
	{
		for (const auto &[tid, thread] : seen.threads)
			for (const Call &call : thread.calls)
				add(thread, call, peers);
		for (const SocketEvent &event : events.ready)
			ready_[event.socket].push_back(&event);
		for (const SocketEvent &event : events.device)
			device_[event.socket].push_back(&event);
	}

	CalledMessages take()
	{
		for (auto &[object, stream] : streams_)
			match(object, stream);
		std::ranges::stable_sort(found_.all, {}, &CalledMessage::send_ns);
		return std::move(found_);
	}

private:
	void add(const Thread &thread, const Call &call, const Peers &peers)
	{
		if (call.object == 0 || call.of_no_stream || !call.moved || call.bytes == 0)
			return;
		if (call.kind == Call::Kind::Send) {
			const uint64_t object = peers.comes_out_of(call.object);
			const auto place = positions_.given(thread, call);
			if (object != 0)
				streams_[object].gives.push_back(
					{&thread, &call, call.object, place.has_value(), place.value_or(Place{})});
		} else if (call.kind == Call::Kind::Receive) {
			const auto place = positions_.taken(thread, call);
			streams_[call.object].takes.push_back({&thread, &call, 0, place.has_value(), place.value_or(Place{})});
		}
	}

	void match(uint64_t object, Stream &stream)
	{
		for (const Placed &give : stream.gives)
			stream.givers.insert(give.thread);
		for (const Placed &take : stream.takes)
			stream.takers.insert(take.thread);
		find_contended(stream.gives, stream.givers, seen_.lost);
		find_contended(stream.takes, stream.takers, seen_.lost);
		const auto by_place = [](const Placed &one) { return one.place.end; };
		std::ranges::stable_sort(stream.gives, {}, by_place);
		std::ranges::stable_sort(stream.takes, {}, by_place);
		uint64_t given_end = 0; // of the one before
		const Placed *before = nullptr;
		for (const Placed &give : stream.gives) {
			const bool contradicts = before && give.begin() < given_end && !give.contended && !before->contended;
			add_message(object, give, stream, contradicts);
			given_end = give.place.end;
			before = &give;
		}
		find_ungiven(object, stream);
	}

	void find_ungiven(uint64_t object, const Stream &stream)
	{
		auto give = stream.gives.begin();
		for (const Placed &take : stream.takes) {
			uint64_t known_to = take.begin();
			while (give != stream.gives.end() && give->place.end <= known_to)
				++give;
			for (auto one = give; one != stream.gives.end() && one->begin() <= known_to; ++one)
				known_to = std::max(known_to, one->place.end);
			if (known_to < take.place.end)
				found_.ungiven.push_back({object, take.call->end_ns, take.thread->tid});
		}
	}

	void add_message(uint64_t object, const Placed &give, const Stream &stream, bool contradicts)
	{
		const std::vector<Placed> &takes = stream.takes;
		CalledMessage message;
		message.given_to = give.given_to;
		message.out_of = object;
		message.stream = give.call->stream.value_or(model::StreamKind::UnixStream);
		message.give = key_of(*give.thread, *give.call);
		message.bytes = give.call->bytes;
		message.send_ns = give.call->begin_ns;
		// The first one that ends at or after the last byte.
		const auto last =
			std::ranges::partition_point(takes, [&](const Placed &take) { return take.place.end < give.place.end; });
		if (last == takes.end() && !contradicts) {
			found_.open.push_back({message.give, give.given_to, message.send_ns, give.call->end_ns});
			return;
		}
		message.decided_ns = known_by(stream.givers, give);
		if (last != takes.end()) {
			message.taken_ns = last->call->end_ns;
			message.decided_ns = std::max(message.decided_ns, known_by(stream.takers, *last));
		}
		const bool passed_over = last == takes.end() || last->begin() >= give.place.end;
		const auto first =
			std::ranges::partition_point(takes, [&](const Placed &take) { return take.place.end <= give.begin(); });
		message.identity = give.place.counted ? Identity::Counted : Identity::Exact;
		const auto is_contended = [](const Placed &one) { return one.contended || one.place.in_order_of_calls; };
		if (is_contended(give) || (!passed_over && std::any_of(first, std::next(last), is_contended)))
			message.identity = Identity::Contended;
		else if (contradicts || passed_over || last->call->end_ns < give.call->begin_ns ||
				 last->place.counted != give.place.counted || is_doubted(object, give))
			message.identity = Identity::Unmatched;
		if (give.contended)
			message.decided_ns = std::max(message.decided_ns, give.alone_ns);
		if (last != takes.end() && last->contended)
			message.decided_ns = std::max(message.decided_ns, last->alone_ns);
		if (has_receiver(message.identity))
			tell_transfer(object, give, first, last, message);
		found_.all.push_back(message);
	}

	// What was counted turned out to be wrong later.
	bool is_doubted(uint64_t object, const Placed &give) const
	{
		const std::optional<uint64_t> latest_ns = positions_.contradicted_ns(object);
		return latest_ns && *latest_ns >= give.call->begin_ns;
	}

	using At = std::vector<Placed>::const_iterator;
	void tell_transfer(uint64_t object, const Placed &give, At first, At last, CalledMessage &message) const
	{
		const Provenance known = give.place.counted ? Provenance::Paired : Provenance::Exact;
		const auto mark = [&](uint64_t at_ns, const Call &call) { return Mark{at_ns, call.evidence, known}; };
		const Call &take = *last->call;
		message.take = key_of(*last->thread, take);
		message.recv_ns = take.end_ns;
		Transfer &transfer = message.transfer;
		transfer.by = ByCall{};
		transfer.from = give.thread->tid;
		transfer.to = last->thread->tid;
		transfer.call = mark(give.call->begin_ns, *give.call);
		transfer.call_return = mark(give.call->end_ns, *give.call);
		if (give.given_to != object)
			transfer.connection = {give.given_to, object};
		tell_ready(object, give, take, transfer);
		const uint64_t since_ns = transfer.ready ? transfer.ready->at_ns : give.call->begin_ns;
		const Call *asked = &take;
		for (At one = first; one != std::next(last); ++one)
			if (one->thread == last->thread && one->call->end_ns >= since_ns && one->call->begin_ns < asked->begin_ns)
				asked = one->call;
		if (const Call *wait = waits_.before(transfer.to, *asked, since_ns)) {
			transfer.wait_return = mark(wait->end_ns, *wait);
			asked = wait;
		}
		transfer.ask = mark(asked->begin_ns, *asked);
		transfer.take_call = mark(take.begin_ns, take);
		transfer.take_return = mark(take.end_ns, take);
	}

	static std::span<const SocketEvent *const>
	within(const std::unordered_map<uint64_t, std::vector<const SocketEvent *>> &all, uint64_t object,
		   uint64_t begin_ns, uint64_t end_ns)
	{
		const auto found = all.find(object);
		if (found == all.end())
			return {};
		const auto first =
			std::ranges::partition_point(found->second, [&](const SocketEvent *one) { return one->at_ns < begin_ns; });
		const auto after = std::partition_point(first, found->second.end(),
												[&](const SocketEvent *one) { return one->at_ns <= end_ns; });
		return {first, after};
	}

	static bool has(const SocketEvent &event, uint32_t end)
	{
		return event.has_stream_end && static_cast<int32_t>(event.stream_end - end) >= 0;
	}

	// The packet that has the message's last byte. Another writer's call may have queued it, or a softirq, once the
	// other end had room.
	const SocketEvent *packet_of(const Placed &give, const Call &take, std::optional<uint32_t> end) const
	{
		const SocketEvent *packet = nullptr;
		for (const SocketEvent *one :
			 within(device_, give.given_to, give.call->begin_ns, end ? take.end_ns : give.call->end_ns)) {
			if (end && has(*one, *end))
				return one;
			if (!end && one->has_stream_end && one->tid == give.thread->tid && one->context == ICEPATH_CONTEXT_TASK)
				packet = one;
		}
		return packet;
	}

	// The giver's own call announces at a UNIX socket. A TCP socket announces the packet, or one after it.
	void tell_ready(uint64_t object, const Placed &give, const Call &take, Transfer &transfer) const
	{
		std::optional<uint32_t> end;
		if (give.call->stream == model::StreamKind::Tcp && give.call->position != 0)
			end = static_cast<uint32_t>(give.call->position - 1);
		const SocketEvent *packet = packet_of(give, take, end);
		const SocketEvent *ready = nullptr;
		for (const SocketEvent *one : within(ready_, object, give.call->begin_ns, take.end_ns)) {
			if (one->has_stream_end)
				transfer.through_device = true;
			if (packet && one->at_ns >= packet->at_ns && has(*one, end.value_or(packet->stream_end))) {
				ready = one;
				break;
			}
			if (!packet && !one->has_stream_end && one->tid == transfer.from && one->at_ns <= give.call->end_ns)
				ready = one;
		}
		if (packet) {
			transfer.through_device = true;
			set_device(*packet, seen_, transfer);
		}
		if (ready)
			set_ready(*ready, Provenance::Exact, &seen_, transfer);
	}

	const Observations &seen_;
	const Positions &positions_;
	const ReadinessWaits waits_;
	std::unordered_map<uint64_t, Stream> streams_; // by the object that bytes come out of
	std::unordered_map<uint64_t, std::vector<const SocketEvent *>> ready_, device_; // by socket, in time order
	CalledMessages found_;
};

} // namespace

CalledMessages called_messages(const SocketEvents &events, const Observations &seen, const Peers &peers,
							   const Positions &positions)
{
	return Messages(events, seen, peers, positions).take();
}

} // namespace icepath::decode
