// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/takings.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>

#include "ebpf/records.h"
#include "profiler/path/giving.h"

namespace icepath::path {

namespace {

struct Given {
	uint32_t tid = 0;
	const Call *call = nullptr; // nullptr: not known, from before the first record
	uint64_t left = 0; // bytes of it that nobody has taken
};

// What happened to one object. Of several at one time givings come first: their call has begun by then.
struct Happening {
	enum class Kind : uint8_t { Give, Take, Empty, Unknown };
	uint64_t at_ns = 0;
	Kind kind = Kind::Give;
	uint32_t tid = 0;
	const Call *call = nullptr; // Give, Take
	uint64_t bytes = 0;
};

// The bytes, or where sizes aren't told the messages, of one object in their order.
class Queue {
public:
	enum class Counts : uint8_t { Bytes, Messages, All };

	Queue(Counts counts, std::vector<Taking> &out) : counts_(counts), out_(out) {}

	// All that happened, in order.
	void run(const std::vector<Happening> &all)
	{
		auto begin = all.begin();
		for (auto one = all.begin(); one != all.end(); ++one) {
			if (one->kind == Happening::Kind::Give || one->kind == Happening::Kind::Take)
				continue;
			between(begin, one);
			begin = std::next(one);
			if (one->kind == Happening::Kind::Unknown)
				waiting_.clear();
			else // what was given until then has been taken
				std::erase_if(waiting_,
							  [&](const Given &given) { return !given.call || given.call->end_ns <= one->at_ns; });
			begins_empty_ = one->kind == Happening::Kind::Empty;
		}
		between(begin, all.end());
	}

private:
	using At = std::vector<Happening>::const_iterator;

	uint64_t amount(const Happening &one) const { return counts_ == Counts::Messages ? 1 : one.bytes; }

	// Between two instants at which it is known anew.
	void between(At begin, At end)
	{
		const uint64_t before = missing(begin, end);
		const bool contradicts = before > 0 && begins_empty_;
		if (before > 0)
			waiting_.push_front({0, nullptr, before});
		for (auto one = begin; one != end; ++one) {
			if (one->kind == Happening::Kind::Give)
				waiting_.push_back({one->tid, one->call, amount(*one)});
			else
				take(*one, contradicts);
		}
	}

	// By how much more was taken than was there.
	uint64_t missing(At begin, At end) const
	{
		if (counts_ == Counts::All)
			return 0;
		uint64_t there = 0, before = 0;
		for (const Given &given : waiting_)
			there += given.left;
		for (auto one = begin; one != end; ++one) {
			if (one->kind == Happening::Kind::Give) {
				there += amount(*one);
				continue;
			}
			before += amount(*one) - std::min(there, amount(*one));
			there -= std::min(there, amount(*one));
		}
		return before;
	}

	void take(const Happening &taken, bool contradicts)
	{
		uint64_t wanted = counts_ == Counts::All ? UINT64_MAX : amount(taken);
		while (wanted > 0 && !waiting_.empty()) {
			Given &first = waiting_.front();
			const uint64_t some = std::min(first.left, wanted);
			if (first.call && !contradicts) {
				const uint64_t bytes = counts_ != Counts::Messages ? some
									   : first.call->bytes         ? first.call->bytes
																   : taken.call->bytes;
				out_.push_back({first.tid, taken.tid, first.call, taken.call, bytes});
			}
			wanted -= some;
			first.left -= some;
			if (first.left == 0)
				waiting_.pop_front();
		}
	}

	const Counts counts_;
	std::vector<Taking> &out_;
	std::deque<Given> waiting_;
	bool begins_empty_ = false;
};

class Objects {
public:
	Objects(const SocketEvents &events, const Observations &seen) : seen_(seen)
	{
		for (const auto &[tid, thread] : seen.threads)
			for (const Call &call : thread.calls) {
				if (call.object == 0)
					continue;
				if (call.kind == Call::Kind::Send && call.moved)
					gives_[call.object].push_back({call.begin_ns, Happening::Kind::Give, tid, &call, call.bytes});
				else if (call.kind == Call::Kind::Receive)
					add_take(thread, call);
			}
		for (auto &[object, gives] : gives_)
			std::ranges::stable_sort(gives, {}, &Happening::at_ns);
		for (const SocketEvent &event : events.device)
			(event.has_stream_end ? segments_[event.stream_end] : datagrams_[event.cpu]).push_back(&event);
		for (const SocketEvent &event : events.ready) {
			announcements_.push_back(announced(event));
			if (const Announcement &one = announcements_.back(); one.give && one.give->object != 0)
				reached_[one.give->object].insert(event.socket);
		}
		for (const Announcement &one : announcements_)
			at_[one.ready->socket].push_back(&one);
	}

	Moved take()
	{
		Moved moved;
		for (auto &[object, takes] : takes_)
			match(object, takes, moved);
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
		for (; off != thread.off.end() && off->out_ns < call.end_ns; ++off)
			if (!off->preempted && off->waking_ns != 0)
				takes.push_back({off->out_ns, Happening::Kind::Empty, thread.tid, nullptr, 0});
	}

	// The last of the events, in order, that aren't after an instant.
	static const SocketEvent *last_until(const std::vector<const SocketEvent *> &events, uint64_t at_ns)
	{
		const auto after =
			std::ranges::partition_point(events, [&](const SocketEvent *one) { return one->at_ns <= at_ns; });
		return after == events.begin() ? nullptr : *std::prev(after);
	}

	// What was announced at the other end of a socket was given by who is in a sending call then, or by whose packet it was: TCP's by
	// its sequence number; of UDP's the last one that its CPU had queued, whose call sent those before it as well, if any.
	Announcement announced(const SocketEvent &ready) const
	{
		Announcement one{.ready = &ready};
		const auto last_in = [&](const auto &packets, const auto &key) {
			const auto found = packets.find(key);
			return found == packets.end() ? nullptr : last_until(found->second, ready.at_ns);
		};
		if (ready.has_stream_end)
			one.device = last_in(segments_, ready.stream_end);
		else if (ready.context != ICEPATH_CONTEXT_TASK)
			one.device = last_in(datagrams_, ready.cpu);
		if (one.device) {
			const auto gives = gives_.find(one.device->socket);
			if (gives == gives_.end())
				return one;
			const auto after = std::ranges::partition_point(
				gives->second, [&](const Happening &given) { return given.at_ns <= one.device->at_ns; });
			if (after != gives->second.begin()) {
				one.give = std::prev(after)->call;
				one.from = std::prev(after)->tid;
			}
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

	// What went into an object: into the only socket that reaches it and nothing else, or itself; else by announcements.
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
		if (from.size() == 1 && reached_.at(*from.begin()).size() == 1)
			if (const auto gives = gives_.find(*from.begin()); gives != gives_.end())
				return gives->second;
		std::vector<Happening> all;
		for (const Announcement *one : announced->second) {
			if (!one->give || one->give->object == 0)
				continue;
			const uint64_t bytes = one->device && one->device->bytes != 0 ? one->device->bytes : one->give->bytes;
			all.push_back({one->ready->at_ns, Happening::Kind::Give, one->from, one->give, bytes});
		}
		return all;
	}

	// What two threads gave at the same time; until the object is seen to be empty again, nothing tells what of it was taken.
	static void find_concurrent(const std::vector<Happening> &all, std::vector<Untold> &out)
	{
		const Happening *last = nullptr; // of those that were given, the one that came back last
		for (auto one = all.begin(); one != all.end(); ++one) {
			if (one->kind != Happening::Kind::Give)
				continue;
			if (last && last->tid != one->tid && one->call->begin_ns < last->call->end_ns) {
				const uint64_t end_ns = std::max(last->call->end_ns, one->call->end_ns);
				const auto empty = std::find_if(one, all.end(), [&](const Happening &later) {
					return later.kind == Happening::Kind::Empty && later.at_ns >= end_ns;
				});
				out.push_back({std::min(last->call->begin_ns, one->call->begin_ns),
							   empty == all.end() ? UINT64_MAX : empty->at_ns});
			}
			if (!last || one->call->end_ns > last->call->end_ns)
				last = &*one;
		}
	}

	static Queue::Counts counts_of(const std::vector<Happening> &all, bool is_socket)
	{
		bool may_add_up = !is_socket;
		for (const Happening &one : all) {
			if (!one.call)
				continue;
			if (one.bytes == 0)
				return Queue::Counts::Messages;
			may_add_up &= one.bytes == sizeof(uint64_t);
		}
		return may_add_up ? Queue::Counts::All : Queue::Counts::Bytes;
	}

	void match(uint64_t object, const std::vector<Happening> &takes, Moved &out)
	{
		std::vector<Happening> all = given_to(object);
		if (all.empty())
			return;
		all.insert(all.end(), takes.begin(), takes.end());
		for (const LossWindow &lost : seen_.lost)
			for (const uint64_t at_ns : {lost.begin_ns, lost.end_ns})
				all.push_back({at_ns, Happening::Kind::Unknown, 0, nullptr, 0});
		std::ranges::stable_sort(all, {}, &Happening::at_ns);
		find_concurrent(all, out.untold);
		const size_t first = out.takings.size();
		Queue(counts_of(all, at_.contains(object)), out.takings).run(all);
		announce(object, {out.takings.begin() + static_cast<std::ptrdiff_t>(first), out.takings.end()});
	}

	// Each by the last announcement of its call before it was taken. Of packets, else by the first one after its call began, which has it
	// as well: of others, whose call announces them, it was taken before that.
	void announce(uint64_t object, std::ranges::subrange<std::vector<Taking>::iterator> takings) const
	{
		const auto found = at_.find(object);
		if (found == at_.end())
			return;
		const bool by_device =
			std::ranges::any_of(found->second, [](const Announcement *one) { return one->device != nullptr; });
		for (Taking &taking : takings) {
			taking.through_device = by_device;
			const auto begin = std::ranges::partition_point(
				found->second, [&](const Announcement *one) { return one->ready->at_ns < taking.give->begin_ns; });
			const Announcement *at = nullptr;
			for (auto one = begin; one != found->second.end() && (*one)->ready->at_ns <= taking.take->end_ns; ++one)
				if ((*one)->give == taking.give || (!at && (by_device || !(*one)->give)))
					at = *one;
			if (!at)
				continue;
			taking.ready = at->ready;
			taking.device = at->device;
		}
	}

	const Observations &seen_;
	std::unordered_map<uint64_t, std::vector<Happening>> gives_, takes_; // by object
	std::unordered_map<uint64_t, std::set<uint64_t>> reached_; // where what a socket gave was announced
	std::unordered_map<uint32_t, std::vector<const SocketEvent *>> segments_; // by stream_end
	std::unordered_map<uint16_t, std::vector<const SocketEvent *>> datagrams_; // by CPU
	std::vector<Announcement> announcements_;
	std::unordered_map<uint64_t, std::vector<const Announcement *>> at_; // by socket
};

} // namespace

Moved moved(const SocketEvents &events, const Observations &seen) { return Objects(events, seen).take(); }

} // namespace icepath::path
