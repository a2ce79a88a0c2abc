// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/takings.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>

#include "ebpf/records.h"
#include "profiler/decode/object_queue.h"
#include "profiler/path/giving.h"

namespace icepath::decode {
namespace {

constexpr uint32_t kReceiving = 3; // NET_RX

class Objects {
public:
	Objects(const SocketEvents &events, const Observations &seen) : seen_(seen)
	{
		for (const auto &[tid, thread] : seen.threads)
			for (const Call &call : thread.calls) {
				if (call.object == 0)
					continue;
				if (call.kind == Call::Kind::Send && call.moved)
					gives_[call.object].push_back(
						{call.begin_ns, Happening::Kind::Give, tid, &call, call.bytes, call.end_ns});
				else if (call.kind == Call::Kind::Receive)
					add_take(thread, call);
			}
		for (auto &[object, gives] : gives_)
			std::ranges::stable_sort(gives, {}, &Happening::at_ns);
		for (const SocketEvent &event : events.device)
			(event.has_stream_end ? segments_[event.stream_end] : datagrams_[event.cpu]).push_back(&event);
		for (const auto &[number, cpu] : seen.cpus)
			for (const Interrupt &one : cpu.interrupts)
				if (one.kind == ICEPATH_INTERRUPT_SOFTIRQ && one.vector == kReceiving && !one.goes_on)
					receiving_[number].push_back(&one);
		std::set<std::pair<const SocketEvent *, uint64_t>> arrived; // datagram and socket
		for (const SocketEvent &event : events.ready) {
			Announcement one = announced(event);
			// A datagram reaches a socket once. If it seems to do so twice, the record of another packet is missing.
			if (one.device && !event.has_stream_end && !arrived.emplace(one.device, event.socket).second)
				one = {.ready = &event, .again = true};
			announcements_.push_back(one);
		}
		find_covering();
		find_elsewhere(events);
		for (const Announcement &one : announcements_) {
			if (one.give && one.give->object != 0)
				reached_[one.give->object].insert(one.ready->socket);
			at_[one.ready->socket].push_back(&one);
		}
	}

	Moved take()
	{
		Moved moved;
		for (auto &[object, takes] : takes_)
			match(object, takes, moved);
		std::ranges::sort(moved.untold_ns);
		moved.announcements = announcements_;
		return moved;
	}

private:
	void add_take(const Thread &thread, const Call &call)
	{
		std::vector<Happening> &takes = takes_[call.object];
		if (call.moved)
			takes.push_back({call.end_ns, Happening::Kind::Take, thread.tid, &call, call.bytes});
		else if (call.found_nothing)
			takes.push_back({call.begin_ns, Happening::Kind::Empty, thread.tid, nullptr, 0});
		auto off =
			std::ranges::partition_point(thread.off, [&](const OffCpu &one) { return one.out_ns < call.begin_ns; });
		uint64_t asked_ns = call.begin_ns;
		for (; off != thread.off.end() && off->out_ns < call.end_ns; ++off)
			if (!off->preempted && off->waking_ns != 0) {
				// If it was woken before it went to sleep, it had found the queue empty earlier.
				const uint64_t empty_ns = off->waking_ns < off->out_ns ? asked_ns : off->out_ns;
				takes.push_back({empty_ns, Happening::Kind::Empty, thread.tid, nullptr, 0});
				asked_ns = off->in_ns;
			}
	}

	// The last event at or before an instant, or nullptr. `events` is in time order.
	static const SocketEvent *last_until(const std::vector<const SocketEvent *> &events, uint64_t at_ns)
	{
		const auto after =
			std::ranges::partition_point(events, [&](const SocketEvent *one) { return one->at_ns <= at_ns; });
		return after == events.begin() ? nullptr : *std::prev(after);
	}

	// The call that gave a packet, or nullptr: the one that its thread is in, or, for a packet that was held back, the
	// last one that began before.
	const Happening *giving(const SocketEvent &packet) const
	{
		const auto gives = gives_.find(packet.socket);
		if (gives == gives_.end())
			return nullptr;
		const auto after = std::ranges::partition_point(
			gives->second, [&](const Happening &given) { return given.at_ns <= packet.at_ns; });
		const auto thread = seen_.threads.find(packet.tid);
		const Call *within = packet.context == ICEPATH_CONTEXT_TASK && thread != seen_.threads.end()
								 ? call_at(thread->second, packet.at_ns)
								 : nullptr;
		for (auto one = after; within && one != gives->second.begin() && std::prev(one)->at_ns >= within->begin_ns;)
			if ((--one)->call == within)
				return &*one;
		return after == gives->second.begin() ? nullptr : &*std::prev(after);
	}

	// Sets the call that gave the announced packet.
	void set_give(Announcement &one) const
	{
		const Happening *given = one.device ? giving(*one.device) : nullptr;
		one.give = given ? given->call : nullptr;
		one.from = given ? given->tid : 0;
	}

	// A datagram that nobody announced went to a socket that isn't of the run, or was dropped.
	void find_elsewhere(const SocketEvents &events)
	{
		std::set<const Call *> announced;
		for (const Announcement &one : announcements_)
			announced.insert(one.give);
		for (const SocketEvent &packet : events.device)
			if (const Happening *given = packet.has_stream_end ? nullptr : giving(packet);
				given && !announced.contains(given->call))
				elsewhere_.insert(packet.socket);
	}

	// TCP may announce part of a segment. It belongs to the segment of the same connection that covers the byte; other
	// segments identify the connection. A byte that no segment covers, a FIN, has no giver.
	void find_covering()
	{
		std::unordered_map<uint64_t, std::set<uint64_t>> peers; // by socket
		for (const Announcement &one : announcements_)
			if (one.ready->has_stream_end && one.device)
				peers[one.ready->socket].insert(one.device->socket);
		std::unordered_map<uint64_t, std::vector<const SocketEvent *>> segments; // by socket, in their order
		for (const auto &[end, some] : segments_)
			for (const SocketEvent *segment : some)
				segments[segment->socket].push_back(segment);
		for (auto &[socket, some] : segments)
			std::ranges::stable_sort(some, {}, &SocketEvent::at_ns);
		for (Announcement &one : announcements_) {
			const auto peer = peers.find(one.ready->socket);
			if (!one.ready->has_stream_end || one.device || peer == peers.end() || peer->second.size() != 1)
				continue;
			const std::vector<const SocketEvent *> &all = segments.at(*peer->second.begin());
			auto sent = std::ranges::partition_point(
				all, [&](const SocketEvent *segment) { return segment->at_ns <= one.ready->at_ns; });
			const auto beyond = [&](const SocketEvent &segment) {
				return static_cast<int32_t>(segment.stream_end - one.ready->stream_end);
			};
			while (sent != all.begin() && beyond(**std::prev(sent)) >= static_cast<int64_t>((*std::prev(sent))->bytes))
				--sent;
			if (sent != all.begin() && beyond(**std::prev(sent)) >= 0)
				one.device = *std::prev(sent);
			set_give(one);
		}
	}

	// Whether a datagram had been handled before a softirq announced something: a softirq that began after it was
	// queued has ended. That one left nothing that its CPU had queued. If it stopped at too many packets, the
	// announcement has no giver.
	bool is_over(const SocketEvent &datagram, const SocketEvent &ready) const
	{
		const auto receiving = receiving_.find(ready.cpu);
		if (receiving == receiving_.end())
			return false;
		const auto handled = std::ranges::partition_point(
			receiving->second, [&](const Interrupt *one) { return one->begin_ns < datagram.at_ns; });
		return handled != receiving->second.end() && (*handled)->end_ns < ready.at_ns;
	}

	// The giver of an announcement at the other end of a socket: the owner of the packet, or the thread that is in a
	// sending call. A TCP packet is found by its sequence number. For UDP it is the last packet that the announcing CPU
	// had queued; that packet's call also sent those before it, if any.
	Announcement announced(const SocketEvent &ready) const
	{
		Announcement one{.ready = &ready};
		const auto last_in = [&](const auto &packets, const auto &key) {
			const auto found = packets.find(key);
			return found == packets.end() ? nullptr : last_until(found->second, ready.at_ns);
		};
		if (ready.has_stream_end) {
			one.device = last_in(segments_, ready.stream_end);
		} else if (ready.context != ICEPATH_CONTEXT_TASK) {
			one.device = last_in(datagrams_, ready.cpu);
			if (one.device && is_over(*one.device, ready))
				return {.ready = &ready};
		}
		if (one.device) {
			set_give(one);
			return one;
		}
		const auto current = seen_.threads.find(ready.tid);
		const Call *call = current == seen_.threads.end() ? nullptr : call_at(current->second, ready.at_ns);
		if (call && call->kind == Call::Kind::Send) {
			one.give = call;
			one.from = ready.tid;
		}
		return one;
	}

	// What went into an object. If nothing was announced at it, that is what it was given itself. If only one socket
	// reaches it, and that one reaches no other object, it is what that socket was given. Otherwise the announcements
	// show it.
	std::vector<Happening> given_to(uint64_t object) const
	{
		const auto announced = at_.find(object);
		if (announced == at_.end()) {
			const auto gives = gives_.find(object);
			return gives == gives_.end() ? std::vector<Happening>{} : gives->second;
		}
		std::set<uint64_t> from;
		for (const Announcement *one : announced->second)
			if (one->give)
				from.insert(one->give->object);
		if (from.size() == 1 && reached_.at(*from.begin()).size() == 1 && !elsewhere_.contains(*from.begin()))
			if (const auto gives = gives_.find(*from.begin()); gives != gives_.end())
				return gives->second;
		std::vector<Happening> all;
		for (const Announcement *one : announced->second) {
			if (!one->give || one->give->object == 0)
				continue;
			const uint64_t bytes = one->device && one->device->bytes != 0 ? one->device->bytes : one->give->bytes;
			// A polling taker may have it before its announcement.
			const uint64_t at_ns = one->device ? one->device->at_ns : one->ready->at_ns;
			all.push_back({at_ns, Happening::Kind::Give, one->from, one->give, bytes, one->ready->at_ns});
		}
		return all;
	}

	// A datagram that no known call gave.
	static bool is_foreign(const Announcement &one)
	{
		return !one.give && !one.again && !one.ready->has_stream_end && one.ready->context != ICEPATH_CONTEXT_TASK;
	}

	void add_foreign(uint64_t object, std::vector<Happening> &all) const
	{
		const auto announced = at_.find(object);
		if (announced == at_.end())
			return;
		for (const Announcement *one : announced->second)
			if (is_foreign(*one))
				all.push_back({one->ready->at_ns, Happening::Kind::Foreign, 0, nullptr, 0});
	}

	// Finds what is taken after two threads gave at the same time, until the object is empty again: nothing shows whose
	// it was.
	static void find_untold(const std::vector<Happening> &all, const std::vector<uint64_t> &emptied_ns,
							std::vector<uint64_t> &out)
	{
		std::vector<std::pair<uint64_t, uint64_t>> times; // begin and end
		const Happening *last = nullptr; // the giving that was in last so far
		for (auto one = all.begin(); one != all.end(); ++one) {
			if (one->kind != Happening::Kind::Give)
				continue;
			if (last && last->tid != one->tid && one->call->begin_ns < last->in_ns) {
				const uint64_t end_ns = std::max(last->in_ns, one->in_ns);
				const auto empty = std::find_if(one, all.end(), [&](const Happening &later) {
					return later.kind == Happening::Kind::Empty && later.at_ns >= end_ns;
				});
				const auto emptied = std::ranges::lower_bound(emptied_ns, end_ns);
				times.emplace_back(std::min(last->call->begin_ns, one->call->begin_ns),
								   std::min(empty == all.end() ? UINT64_MAX : empty->at_ns,
											emptied == emptied_ns.end() ? UINT64_MAX : *emptied));
			}
			if (!last || one->in_ns > last->in_ns)
				last = &*one;
		}
		std::ranges::sort(times);
		uint64_t until_ns = 0;
		auto time = times.begin();
		for (const Happening &one : all) {
			for (; time != times.end() && time->first <= one.at_ns; ++time)
				until_ns = std::max(until_ns, time->second);
			if (one.kind == Happening::Kind::Take && one.at_ns <= until_ns)
				out.push_back(one.at_ns);
		}
	}

	static ObjectQueue::Counts counts_of(const std::vector<Happening> &all, bool is_socket)
	{
		bool may_add_up = !is_socket;
		for (const Happening &one : all) {
			if (!one.call)
				continue;
			if (one.bytes == 0)
				return ObjectQueue::Counts::Messages;
			may_add_up &= one.bytes == sizeof(uint64_t);
		}
		return may_add_up ? ObjectQueue::Counts::All : ObjectQueue::Counts::Bytes;
	}

	void match(uint64_t object, const std::vector<Happening> &takes, Moved &out)
	{
		std::vector<Happening> all = given_to(object);
		if (all.empty())
			return;
		add_foreign(object, all);
		all.insert(all.end(), takes.begin(), takes.end());
		// A queue that was found empty while records were lost may have held something else meanwhile.
		std::erase_if(all, [&](const Happening &one) {
			return one.kind == Happening::Kind::Empty && std::ranges::any_of(seen_.lost, [&](const LossWindow &lost) {
					   return lost.begin_ns <= one.at_ns && one.at_ns <= lost.end_ns;
				   });
		});
		for (const LossWindow &lost : seen_.lost)
			for (const uint64_t at_ns : {lost.begin_ns, lost.end_ns})
				all.push_back({at_ns, Happening::Kind::Unknown, 0, nullptr, 0});
		std::ranges::stable_sort(all, {}, &Happening::at_ns);
		const size_t first = out.takings.size();
		ObjectQueue queue(counts_of(all, at_.contains(object)), has_device(object), out.takings);
		queue.run(all);
		find_untold(all, queue.emptied_ns(), out.untold_ns);
		announce(object, {out.takings.begin() + static_cast<std::ptrdiff_t>(first), out.takings.end()});
	}

	// Whether what is taken from the object came through a network device, loopback included.
	bool has_device(uint64_t object) const
	{
		const auto found = at_.find(object);
		return found != at_.end() &&
			   std::ranges::any_of(found->second, [](const Announcement *one) { return one->device != nullptr; });
	}

	// Assigns each taking the last announcement of its giving call before it was taken. Packets without one get the
	// first announcement after the call began, which includes them. Others are announced by their own call, so they
	// were taken before that.
	void announce(uint64_t object, std::ranges::subrange<std::vector<Taking>::iterator> takings) const
	{
		const auto found = at_.find(object);
		if (found == at_.end())
			return;
		const bool by_device = has_device(object);
		for (Taking &taking : takings) {
			taking.through_device = by_device;
			const auto begin = std::ranges::partition_point(
				found->second, [&](const Announcement *one) { return one->ready->at_ns < taking.give->begin_ns; });
			const Announcement *at = nullptr;
			auto one = begin;
			for (; one != found->second.end() && (*one)->ready->at_ns <= taking.take->end_ns; ++one)
				if ((*one)->give == taking.give || (!at && !is_foreign(**one) && (by_device || !(*one)->give)))
					at = *one;
			if (!at) { // taken before its announcement
				if (one != found->second.end() && (*one)->give == taking.give)
					taking.device = (*one)->device;
				continue;
			}
			taking.ready = at->ready;
			taking.device = at->device;
		}
	}

	const Observations &seen_;
	std::unordered_map<uint64_t, std::vector<Happening>> gives_, takes_; // by object
	std::unordered_map<uint64_t, std::set<uint64_t>> reached_; // sockets at which an object's givings were announced
	std::set<uint64_t> elsewhere_; // objects that gave datagrams which weren't announced
	std::unordered_map<uint32_t, std::vector<const SocketEvent *>> segments_; // by stream_end
	std::unordered_map<uint16_t, std::vector<const SocketEvent *>> datagrams_; // by CPU
	std::unordered_map<uint16_t, std::vector<const Interrupt *>> receiving_; // by CPU, by begin_ns
	std::vector<Announcement> announcements_;
	std::unordered_map<uint64_t, std::vector<const Announcement *>> at_; // by socket
};

} // namespace

Moved moved(const SocketEvents &events, const Observations &seen) { return Objects(events, seen).take(); }

} // namespace icepath::decode
