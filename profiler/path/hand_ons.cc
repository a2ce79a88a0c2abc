// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/hand_ons.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "ebpf/records.h"
#include "profiler/path/giving.h"
#include "profiler/path/handover.h"

namespace icepath::path {

namespace {

// What one object saw, in the order of time.
struct Giving {
	uint32_t tid;
	const Call *call;
	const Giving *by_another = nullptr; // the last one before that another thread made
};

class HandOns {
public:
	HandOns(const SocketEvents &events, const Observations &seen) : seen_(seen)
	{
		for (const SocketEvent &event : events.ready) {
			ready_[event.socket].push_back(&event);
			announced_by_[{event.tid, event.context}].push_back(&event);
		}
		for (const SocketEvent &event : events.device)
			(event.has_stream_end ? segments_[event.stream_end] : datagrams_[event.cpu]).push_back(&event);
		for (const auto &[tid, thread] : seen.threads)
			for (const Call &call : thread.calls)
				if (call.kind == Call::Kind::Send && call.object != 0 && call.moved)
					givings_[call.object].push_back({tid, &call});
		for (auto &[object, givings] : givings_) {
			std::ranges::stable_sort(givings, {}, [](const Giving &one) { return one.call->begin_ns; });
			for (size_t i = 1; i < givings.size(); ++i)
				givings[i].by_another =
					givings[i - 1].tid != givings[i].tid ? &givings[i - 1] : givings[i - 1].by_another;
		}
		for (const auto &[tid, thread] : seen.threads)
			for (const Call &call : thread.calls)
				if (call.kind == Call::Kind::ReadinessWait)
					waits_[tid].push_back(&call);
		for (const auto &[tid, thread] : seen.threads) {
			for (const OffCpu &off : thread.off)
				add_waking(thread, off);
			for (const Call &call : thread.calls)
				if (call.kind == Call::Kind::Receive && call.object != 0 && call.moved)
					add_taking(thread, call);
		}
		std::ranges::stable_sort(all_, {}, &HandOn::given_ns);
	}

	std::vector<HandOn> take() { return std::move(all_); }

private:
	const Thread *thread(uint32_t tid) const
	{
		const auto found = seen_.threads.find(tid);
		return found == seen_.threads.end() ? nullptr : &found->second;
	}

	// By a thread in a call of its own, or by a softirq that announced something at a socket to who waits for that.
	void add_waking(const Thread &woken, const OffCpu &off)
	{
		HandOn on{.to = woken.tid, .woken = &off};
		on.take = call_at(woken, off.out_ns);
		if (off.preempted || off.waking_ns == 0 || !on.take)
			return;
		const auto announced = announced_by_.find({off.waker_tid, off.waker_context});
		const SocketEvent *ready =
			announced == announced_by_.end() ? nullptr : last_until(announced->second, off.waking_ns);
		if (off.waker_context == ICEPATH_CONTEXT_TASK) {
			const Thread *waker = thread(off.waker_tid);
			on.give = waker ? call_at(*waker, off.waking_ns) : nullptr;
			if (!on.give || (on.give->kind != Call::Kind::Send && on.give->kind != Call::Kind::FutexWake))
				return;
			on.from = waker->tid;
			if (ready && on.give->kind == Call::Kind::Send && ready->at_ns >= on.give->begin_ns)
				on.ready = ready;
		} else if (ready && is_of_packets(off)) {
			on.ready = ready;
			if (!find_giver(*ready, on))
				return;
		}
		if (on.from == 0 || on.from == woken.tid)
			return;
		on.lock = on.take->kind == Call::Kind::FutexLock;
		all_.push_back(on);
	}

	// The last of the events, in order, that aren't after an instant.
	static const SocketEvent *last_until(const std::vector<const SocketEvent *> &events, uint64_t at_ns)
	{
		const auto after =
			std::ranges::partition_point(events, [&](const SocketEvent *one) { return one->at_ns <= at_ns; });
		return after == events.begin() ? nullptr : *std::prev(after);
	}

	// The last call into the object that began by then, of whoever isn't `except`.
	const Giving *last_giving(uint64_t object, uint64_t at_ns, uint32_t except) const
	{
		const auto found = givings_.find(object);
		if (found == givings_.end())
			return nullptr;
		auto next =
			std::ranges::partition_point(found->second, [&](const Giving &one) { return one.call->begin_ns <= at_ns; });
		if (next == found->second.begin())
			return nullptr;
		--next;
		return next->tid == except ? next->by_another : &*next;
	}

	// What was announced at the other end of a socket was given by who is in a sending call then, or by whose packet it was: TCP's by
	// its sequence number; of UDP's the last one that its CPU had queued, whose call sent those before it as well, if any.
	bool find_giver(const SocketEvent &ready, HandOn &on) const
	{
		const Thread *current = thread(ready.tid);
		const auto last_in = [&](const auto &packets, const auto &key) {
			const auto found = packets.find(key);
			return found == packets.end() ? nullptr : last_until(found->second, ready.at_ns);
		};
		if (ready.has_stream_end)
			on.device = last_in(segments_, ready.stream_end);
		else if (ready.context != ICEPATH_CONTEXT_TASK)
			on.device = last_in(datagrams_, ready.cpu);
		if (on.device) {
			const Giving *giving = last_giving(on.device->socket, on.device->at_ns, 0);
			if (!giving)
				return false;
			on.from = giving->tid;
			on.give = giving->call;
			return true;
		}
		if (!current || !(on.give = call_at(*current, ready.at_ns)) || on.give->kind != Call::Kind::Send)
			return false;
		on.from = current->tid;
		return true;
	}

	void add_taking(const Thread &taker, const Call &call)
	{
		HandOn on{.to = taker.tid, .take = &call};
		const auto announced = ready_.find(call.object);
		if (announced != ready_.end()) {
			on.ready = last_until(announced->second, call.end_ns);
			if (!on.ready || !find_giver(*on.ready, on) || on.from == taker.tid)
				return;
		} else {
			const Giving *giving = last_giving(call.object, call.end_ns, taker.tid);
			if (!giving)
				return;
			on.from = giving->tid;
			on.give = giving->call;
		}
		on.wait = wait_for(taker, call, on.ready ? on.ready->at_ns : on.given_ns());
		all_.push_back(on);
	}

	// What the taker asked by: its first readiness wait that came back after there was something to take, before it took that. nullptr:
	// the taking call itself.
	const Call *wait_for(const Thread &taker, const Call &take, uint64_t since_ns) const
	{
		const auto found = waits_.find(taker.tid);
		if (found == waits_.end())
			return nullptr;
		const auto wait =
			std::ranges::partition_point(found->second, [&](const Call *one) { return one->end_ns < since_ns; });
		return wait != found->second.end() && (*wait)->end_ns <= take.begin_ns ? *wait : nullptr;
	}

	const Observations &seen_;
	std::unordered_map<uint64_t, std::vector<const SocketEvent *>> ready_; // by socket
	std::map<std::pair<uint32_t, uint8_t>, std::vector<const SocketEvent *>> announced_by_; // by tid and context
	std::unordered_map<uint32_t, std::vector<const SocketEvent *>> segments_; // by stream_end
	std::unordered_map<uint16_t, std::vector<const SocketEvent *>> datagrams_; // by CPU
	std::unordered_map<uint64_t, std::vector<Giving>> givings_; // by object
	std::unordered_map<uint32_t, std::vector<const Call *>> waits_; // readiness waits, by tid
	std::vector<HandOn> all_;
};

} // namespace

std::vector<HandOn> hand_ons(const SocketEvents &events, const Observations &seen)
{
	return HandOns(events, seen).take();
}

} // namespace icepath::path
