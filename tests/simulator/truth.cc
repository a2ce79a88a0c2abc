// SPDX-License-Identifier: Apache-2.0
#include "tests/simulator/truth.h"

#include <algorithm>
#include <array>

namespace icepath::simulator {
namespace {

using model::Layer;
using model::Part;
using model::Wait;

class Teller {
public:
	explicit Teller(const Model &model) : model_(model), scenario_(model.scenario) {}

	Truth truth_of(const Message &message) const
	{
		Truth truth;
		truth.message = message.id;
		truth.send_ns = message.send;
		truth.recv_ns = message.recv;
		const std::vector<Task *> chain = model_.chain(message.flow);
		for (const Task *thread : chain)
			truth.cpus[thread->tid] = {&model_.machine, thread};
		Segments &out = truth.segments;
		if (scenario_.library)
			return of_library(message, chain, std::move(truth));
		uint64_t since = message.send;
		bool backlog = false;
		const Leg *own = nullptr;
		for (size_t hop = 0; hop < scenario_.edges.size(); ++hop) {
			const Leg &leg = message.legs[hop];
			const Task &giver = *chain[hop], &taker = *chain[hop + 1];
			if (scenario_.edges[hop] == Edge::Wake) {
				const Sleep *sleep = woken_for(taker, message.id);
				// A thread is known to carry the message only if it sent it or took it from a transfer.
				bool known_carrier = hop == 0 || scenario_.edges[hop - 1] == Edge::Transfer;
				if (!sleep || !known_carrier) {
					truth.tellable = false;
					return truth;
				}
				holding(out, giver, hop, since, sleep->waking_ns, false, nullptr);
				since = sleep->waking_ns;
				continue;
			}
			bool inferred = false;
			uint64_t ready = ready_of(leg, message, giver, taker, inferred);
			truth.ready_ns.push_back(ready);
			if (inferred)
				truth.inferred_ns.push_back(ready);
			uint64_t given = leg.device ? std::min(leg.device, leg.call_return) : ready;
			holding(out, giver, hop, since, given, false, &leg);
			if (leg.device) {
				add(out, Layer::Network, Part::Held, hop + 1, taker, given, leg.device);
				add(out, Layer::Network, Part::None, hop + 1, taker, leg.device, ready);
			}
			uint64_t taken = leg.observe ? leg.observe : leg.take_return;
			taking(out, message, leg, giver, taker, hop + 1, ready, taken);
			since = taken;
			backlog = leg.follows && hop + 1 == scenario_.edges.size();
		}
		holding(out, *chain.back(), scenario_.edges.size(), since, message.recv, backlog, own);
		return truth;
	}

private:
	using Segments = std::vector<TrueSegment>;

	// A thread has the message when its taking call returns. A side's own thread has it when the library's function
	// returns.
	Truth of_library(const Message &message, const std::vector<Task *> &chain, Truth truth) const
	{
		truth.counts_hops = false;
		uint64_t since = message.send;
		for (size_t hop = 0; hop < scenario_.edges.size(); ++hop) {
			Leg leg = message.legs[hop];
			const Task &giver = *chain[hop], &taker = *chain[hop + 1];
			const bool is_last = hop + 1 == scenario_.edges.size();
			// A thread that takes it without sleeping may be woken for it later.
			const Sleep *sleep = scenario_.edges[hop] == Edge::Wake ? woken_for(taker, message.id) : nullptr;
			if (sleep && sleep->waking_ns > message.legs[hop].take_return)
				sleep = nullptr;
			const bool in_memory = scenario_.edges[hop] == Edge::Wake && !sleep;
			const bool is_announced = leg.ready != 0 && leg.ready <= leg.take_return;
			const uint64_t ready = sleep ? sleep->waking_ns : is_announced ? leg.ready : leg.enqueue;
			truth.ready_ns.push_back(ready);
			if (!sleep && !is_announced)
				truth.inferred_ns.push_back(ready);
			holding(truth.segments, giver, hop, since, ready, false, nullptr);
			const bool is_own = is_last && !scenario_.callback;
			if (is_own) {
				leg.ask = message.library_ask;
				leg.take_return = message.library_took;
			}
			since = in_memory && !is_own ? ready : std::max(ready, leg.take_return);
			if (since > ready)
				taking(truth.segments, message, leg, giver, taker, hop + 1, ready, since);
		}
		holding(truth.segments, *chain.back(), scenario_.edges.size(), since, message.recv, false, nullptr);
		return truth;
	}

	static void add(Segments &segments, Layer layer, Part part, size_t hop, const Task &thread, uint64_t begin,
					uint64_t end)
	{
		if (begin >= end)
			return;
		TrueSegment one{layer, part, static_cast<uint16_t>(hop), thread.tid, begin, end};
		if (!segments.empty()) {
			TrueSegment &last = segments.back();
			if (last.layer == layer && last.part == part && last.hop == one.hop && last.thread == one.thread) {
				last.end_ns = end;
				return;
			}
		}
		segments.push_back(one);
	}

	Layer user(size_t hop) const
	{
		return hop == 0 ? Layer::SenderUser : hop == scenario_.edges.size() ? Layer::ReceiverUser : Layer::RelayUser;
	}
	Layer kernel(size_t hop) const
	{
		return hop == 0                        ? Layer::SenderKernel
			   : hop == scenario_.edges.size() ? Layer::ReceiverKernel
											   : Layer::RelayKernel;
	}

	static std::pair<Layer, Part> slept(SleepFor kind)
	{
		switch (kind) {
		case SleepFor::Room:
			return {Layer::Blocked, Part::Backpressure};
		case SleepFor::Futex:
			return {Layer::Blocked, Part::Lock};
		case SleepFor::Page:
			return {Layer::Blocked, Part::Fault};
		case SleepFor::Storage:
			return {Layer::Blocked, Part::Storage};
		case SleepFor::Reclaim:
			return {Layer::Blocked, Part::Reclaim};
		case SleepFor::Timer:
			return {Layer::Blocked, Part::Timer};
		default:
			return {Layer::Blocked, Part::None};
		}
	}

	template <class Each> static void spans(const Task &thread, uint64_t begin, uint64_t end, Each each)
	{
		for (size_t i = 0; i < thread.log.size(); ++i) {
			uint64_t from = std::max(begin, thread.log[i].begin_ns);
			uint64_t until = i + 1 < thread.log.size() ? std::min(end, thread.log[i + 1].begin_ns) : end;
			if (from < until)
				each(thread.log[i], from, until);
		}
	}

	static bool foreign_to(const Span &span, const Leg *leg)
	{
		return !leg || (span.interrupt != leg->ready_interrupt && span.interrupt != leg->device_interrupt);
	}

	// A softirq of the run's own messages is a part of the call that it came into, if records tell what it sent.
	void interrupted(Segments &out, const Span &span, Layer inside, size_t hop, const Task &thread, uint64_t from,
					 uint64_t until) const
	{
		const auto own = model_.machine.own_softirqs.find(span.interrupt);
		const bool is_own =
			own != model_.machine.own_softirqs.end() &&
			std::ranges::any_of(own->second, [&](size_t record) { return !model_.machine.lost.contains(record); });
		const bool in_call =
			inside == Layer::SenderKernel || inside == Layer::RelayKernel || inside == Layer::ReceiverKernel;
		add(out, is_own && in_call ? inside : Layer::Interrupt, is_own ? Part::Softirq : Part::None, hop, thread, from,
			until);
	}

	void runnable(Segments &out, const Sleep &sleep, size_t hop, const Task &thread, uint64_t from, uint64_t until,
				  Part part = Part::None) const
	{
		if (sleep.idle_exit_ns > from && sleep.idle_exit_ns < until) {
			add(out, Layer::Runqueue, Part::IdleExit, hop, thread, from, sleep.idle_exit_ns);
			from = sleep.idle_exit_ns;
		}
		add(out, Layer::Runqueue, part, hop, thread, from, until);
	}

	void waking(Segments &out, const Sleep &sleep, size_t hop, const Task &thread, uint64_t from, uint64_t until) const
	{
		std::array<std::pair<uint64_t, Part>, 2> cuts = {
			{{sleep.ipi_ns, Part::Ipi}, {sleep.idle_exit_ns, Part::IdleExit}}};
		std::ranges::sort(cuts);
		for (const auto &[at, part] : cuts)
			if (at > from && at <= until) {
				add(out, Layer::Wakeup, part, hop, thread, from, at);
				from = at;
			}
		add(out, Layer::Wakeup, Part::None, hop, thread, from, until);
	}

	// A thread that has the message.
	void holding(Segments &out, const Task &thread, size_t hop, uint64_t begin, uint64_t end, bool backlog,
				 const Leg *own) const
	{
		spans(thread, begin, end, [&](const Span &span, uint64_t from, uint64_t until) {
			const bool in_call = span.doing == Doing::SendCall || span.doing == Doing::InCall;
			const Layer running = in_call ? kernel(hop) : user(hop);
			if (span.state == State::Interrupted && foreign_to(span, own))
				return interrupted(out, span, running, hop, thread, from, until);
			switch (span.state) {
			case State::Running:
			case State::Interrupted:
				return add(out, running, backlog ? Part::Backlog : Part::None, hop, thread, from, until);
			case State::Preempted:
				return add(out, Layer::Preempted, Part::None, hop, thread, from, until);
			case State::Runnable:
				return runnable(out, thread.sleeps[span.sleep], hop, thread, from, until);
			default:
				break;
			}
			const Sleep &sleep = thread.sleeps[span.sleep];
			if (sleep.kind == SleepFor::Message)
				return waking(out, sleep, hop, thread, from, until);
			auto [layer, part] = slept(sleep.kind);
			add(out, layer, part, hop, thread, from, until);
		});
	}

	void notify(Segments &out, const Message &message, const Leg &leg, const Sleep &sleep, const Task &giver,
				const Task &thread, size_t hop, uint64_t from, uint64_t until) const
	{
		Layer layer = leg.device ? Layer::Network : kernel(hop - 1);
		bool by_giver = sleep.waker.message == message.id && sleep.waker.context == ICEPATH_CONTEXT_TASK &&
						sleep.waker.tid == giver.tid;
		if (!by_giver)
			return add(out, layer, Part::Notify, hop, thread, from, until);
		spans(giver, from, until, [&](const Span &span, uint64_t a, uint64_t b) {
			if (span.state == State::Interrupted && foreign_to(span, &leg))
				return interrupted(out, span, layer, hop - 1, giver, a, b);
			if (span.state == State::Preempted)
				return add(out, Layer::Preempted, Part::None, hop - 1, giver, a, b);
			add(out, layer, Part::Notify, hop, thread, a, b);
		});
	}

	void taking(Segments &out, const Message &message, const Leg &leg, const Task &giver, const Task &thread,
				size_t hop, uint64_t begin, uint64_t end) const
	{
		spans(thread, begin, end, [&](const Span &span, uint64_t from, uint64_t until) {
			auto put = [&](Layer layer, Part part = Part::None) { add(out, layer, part, hop, thread, from, until); };
			const bool asking = from >= leg.ask;
			const bool in_call = scenario_.library ? span.doing == Doing::InCall : span.doing != Doing::WaitUser;
			const Layer running = !asking                        ? Layer::Queue
								  : span.doing == Doing::Looking ? Layer::Propagation
								  : in_call                      ? kernel(hop)
																 : user(hop);
			if (span.state == State::Interrupted && foreign_to(span, &leg))
				return interrupted(out, span, running, hop, thread, from, until);
			if (span.state == State::Running || span.state == State::Interrupted) {
				if (!asking)
					return put(running, Part::Busy);
				return put(running, span.spurious && running != Layer::Propagation ? Part::Spurious : Part::None);
			}
			const Sleep &sleep = thread.sleeps[span.sleep];
			if (span.state == State::Preempted)
				return asking ? put(Layer::Preempted) : put(Layer::Queue, Part::Preempted);
			if (!asking)
				return put(Layer::Queue, span.state == State::Runnable ? Part::Preempted : Part::Blocked);
			if (sleep.kind != SleepFor::Message) {
				if (span.state == State::Runnable)
					return runnable(out, sleep, hop, thread, from, until);
				auto [layer, part] = slept(sleep.kind);
				return put(layer, part);
			}
			const bool delivers = sleep.waker.message == message.id ||
								  (leg.announced_with != kNoMessage && sleep.waker.message == leg.announced_with);
			if (span.state == State::Asleep)
				return notify(out, message, leg, sleep, giver, thread, hop, from, until);
			if (!delivers)
				return span.state == State::Waking ? put(Layer::Wakeup, Part::Spurious)
												   : runnable(out, sleep, hop, thread, from, until, Part::Spurious);
			if (span.state == State::Waking)
				return waking(out, sleep, hop, thread, from, until);
			runnable(out, sleep, hop, thread, from, until);
		});
	}

	static const Sleep *woken_for(const Task &thread, uint64_t message)
	{
		const Sleep *found = nullptr;
		for (const Sleep &sleep : thread.sleeps)
			if (sleep.waking_ns != 0 && sleep.waker.message == message)
				found = &sleep;
		return found;
	}

	uint64_t ready_of(const Leg &leg, const Message &message, const Task &giver, const Task &taker,
					  bool &inferred) const
	{
		if (scenario_.transport == Transport::Slot) {
			spans(giver, leg.publish, leg.enqueue,
				  [&](const Span &span, uint64_t, uint64_t) { inferred |= span.state != State::Running; });
			return inferred ? leg.enqueue : leg.publish; // nothing came between stamp and store, so the stamp counts
		}
		uint64_t by = leg.observe ? leg.observe : leg.taken ? std::min(leg.taken, leg.take_return) : leg.take_return;
		// A giver that lost its CPU between the record and the announcement may have queued it after that.
		bool lost_cpu = false;
		if (leg.queued != 0 && leg.ready != 0 && scenario_.transport == Transport::Local)
			spans(giver, leg.queued, leg.ready, [&](const Span &span, uint64_t, uint64_t) {
				lost_cpu |= span.state != State::Running && span.state != State::Interrupted;
			});
		if (leg.queued != 0 && !lost_cpu && leg.queued <= by)
			return leg.queued;
		if (leg.ready != 0 && leg.ready <= by)
			return leg.ready;
		const bool untold = scenario_.transport == Transport::Queue || scenario_.transport == Transport::Bell;
		if (untold && scenario_.wait != Wait::Poll)
			if (const Sleep *sleep = woken_for(taker, message.id); sleep && sleep->waking_ns <= by)
				return sleep->waking_ns;
		inferred = true;
		return leg.enqueue;
	}

	const Model &model_;
	const Scenario &scenario_;
};

} // namespace

std::vector<Truth> truths_of(const Model &model)
{
	const Teller teller(model);
	std::vector<Truth> all;
	for (const auto &received : model.received)
		for (const Message *message : received)
			if (!message->warm_up)
				all.push_back(teller.truth_of(*message));
	return all;
}

} // namespace icepath::simulator
