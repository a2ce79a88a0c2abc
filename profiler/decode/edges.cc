// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/edges.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "ebpf/records.h"
#include "profiler/decode/readiness_waits.h"
#include "profiler/path/giving.h"
#include "profiler/path/handover.h"

namespace icepath::decode {
namespace {

class Finder {
public:
	Finder(const SocketEvents &events, const Observations &seen)
		: seen_(seen), moved_(moved(events, seen)), waits_(seen)
	{
		for (const Announcement &one : moved_.announcements)
			announced_by_[{one.ready->tid, one.ready->context}].push_back(&one);
		for (const auto &[tid, thread] : seen.threads)
			for (const OffCpu &off : thread.off)
				add_waking(thread, off);
		for (const Taking &taking : moved_.takings)
			takes_[{taking.give, taking.to}].push_back(taking.take);
		for (const Taking &taking : moved_.takings)
			if (taking.from != taking.to)
				add_taking(taking);
		std::ranges::stable_sort(all_, {}, &Edge::given_ns);
	}

	Edges take() { return {std::move(all_), moved_.untold_ns}; }

private:
	const Thread *thread(uint32_t tid) const
	{
		const auto found = seen_.threads.find(tid);
		return found == seen_.threads.end() ? nullptr : &found->second;
	}

	// The last announcement at or before an instant, or nullptr. `all` is in time order.
	static const Announcement *last_until(const std::vector<const Announcement *> &all, uint64_t at_ns)
	{
		const auto after =
			std::ranges::partition_point(all, [&](const Announcement *one) { return one->ready->at_ns <= at_ns; });
		return after == all.begin() ? nullptr : *std::prev(after);
	}

	// Adds an edge if the waker was a thread in a sending or futex call, or a softirq that had announced something at a
	// socket.
	void add_waking(const Thread &woken, const OffCpu &off)
	{
		Edge on{.to = woken.tid, .woken = &off};
		on.take = call_at(woken, off.out_ns);
		if (off.preempted || off.waking_ns == 0 || !on.take || on.take->kind == Call::Kind::FutexLock)
			return;
		const auto announced = announced_by_.find({off.waker_tid, off.waker_context});
		const Announcement *last =
			announced == announced_by_.end() ? nullptr : last_until(announced->second, off.waking_ns);
		if (off.waker_context == ICEPATH_CONTEXT_TASK) {
			const Thread *waker = thread(off.waker_tid);
			on.give = waker ? call_at(*waker, off.waking_ns) : nullptr;
			if (!on.give || (on.give->kind != Call::Kind::Send && on.give->kind != Call::Kind::FutexWake))
				return;
			on.from = waker->tid;
			if (last && on.give->kind == Call::Kind::Send && last->ready->at_ns >= on.give->begin_ns)
				on.ready = last->ready;
		} else if (last && last->give && is_of_packets(off)) {
			on.ready = last->ready;
			on.device = last->device;
			on.give = last->give;
			on.from = last->from;
		}
		if (on.from != 0 && on.from != woken.tid)
			all_.push_back(on);
	}

	void add_taking(const Taking &taking)
	{
		Edge on{.from = taking.from, .to = taking.to, .give = taking.give, .take = taking.take, .bytes = taking.bytes};
		on.ready = taking.ready;
		on.device = taking.device;
		on.through_device = taking.through_device;
		const uint64_t since_ns = on.ready ? on.ready->at_ns : on.given_ns();
		for (const Call *take : takes_.at({taking.give, taking.to}))
			if (take->end_ns >= since_ns && (!on.first_take || take->begin_ns < on.first_take->begin_ns))
				on.first_take = take;
		on.wait = waits_.before(taking.to, on.first_take ? *on.first_take : *taking.take, since_ns);
		all_.push_back(on);
	}

	const Observations &seen_;
	const Moved moved_;
	const ReadinessWaits waits_;
	std::map<std::pair<uint32_t, uint8_t>, std::vector<const Announcement *>> announced_by_; // by tid and context
	std::map<std::pair<const Call *, uint32_t>, std::vector<const Call *>>
		takes_; // takings of what a call gave, by that call and the taker's tid
	std::vector<Edge> all_;
};

} // namespace

Edges edges_of(const SocketEvents &events, const Observations &seen) { return Finder(events, seen).take(); }

} // namespace icepath::decode
