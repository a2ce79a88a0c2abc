// SPDX-License-Identifier: Apache-2.0
// Giving a message: into a socket, a queue, a slot, or a network whose softirq delivers it.
#include "tests/simulator/model.h"

namespace icepath::simulator {

void Model::enqueue(Link &link, Message &message)
{
	message.legs[link.index].enqueue = machine.now();
	link.queue.push_back(&message);
}

void Model::device(Link &link, Message &message, uint16_t cpu, bool part)
{
	icepath_record record{};
	record.type = ICEPATH_RECORD_DEVICE_QUEUE;
	record.context = machine.context(cpu);
	record.tid = machine.current_tid(cpu);
	record.socket.socket = link.sender_key;
	record.socket.bytes = part ? kPayload / 2 : kPayload;
	if (scenario.transport == Transport::Stream) {
		record.socket.has_stream_end = 1;
		record.socket.stream_end = static_cast<uint32_t>(link.base + message.seq * kPayload + record.socket.bytes);
	}
	size_t number = machine.emit(cpu, record);
	if (part)
		return;
	Leg &leg = message.legs[link.index];
	leg.device = machine.now();
	leg.device_record = number;
	leg.device_interrupt = record.context == ICEPATH_CONTEXT_TASK ? -1 : machine.outermost_interrupt(cpu);
	if (leg.device_interrupt >= 0)
		machine.own_softirqs[leg.device_interrupt].push_back(number);
	backlog_of(link, cpu).queue.emplace_back(&link, &message);
}

void Model::ready(Link &link, Message &message, uint16_t cpu, bool part)
{
	icepath_record record{};
	record.type = ICEPATH_RECORD_DATA_READY;
	record.context = machine.context(cpu);
	record.tid = machine.current_tid(cpu);
	record.socket.socket = link.receiver_key;
	if (scenario.transport == Transport::Stream) {
		record.socket.has_stream_end = 1;
		record.socket.stream_end = static_cast<uint32_t>(link.base + (message.seq + 1) * kPayload);
	}
	size_t number = machine.emit(cpu, record);
	Leg &leg = message.legs[link.index];
	if (part || (leg.queued != 0 && scenario.transport == Transport::Stream)) // the queue's record came earlier
		return;
	leg.ready = machine.now();
	leg.ready_record = number;
	leg.ready_tid = record.tid;
	leg.ready_context = record.context;
	leg.ready_interrupt = record.context == ICEPATH_CONTEXT_TASK ? -1 : machine.outermost_interrupt(cpu);
}

// A kernel function that puts messages into a queue is entered.
void Model::queued(Link &link, Message &message, uint16_t cpu, bool part)
{
	if (!scenario.enqueued || machine.mutates(Mutant::LosesEnqueued))
		return;
	const bool is_stream = scenario.transport == Transport::Stream;
	icepath_record record{};
	record.type = ICEPATH_RECORD_ENQUEUED;
	record.context = machine.context(cpu);
	record.tid = machine.current_tid(cpu);
	record.flags = message.id % 2 ? ICEPATH_TIER_KPROBE << ICEPATH_FLAG_TIER_SHIFT : 0;
	if (scenario.transport == Transport::Queue)
		record.socket.woken_tid = link.to_waits && machine.chance(0.5) ? link.to->tid : 0;
	else
		record.socket.socket = link.receiver_key;
	if (is_stream) {
		record.socket.has_stream_end = 1;
		record.socket.stream_end = static_cast<uint32_t>(link.base + (message.seq + 1) * kPayload);
	}
	const size_t number = machine.emit(cpu, record);
	if (part)
		return;
	Leg &leg = message.legs[link.index];
	leg.queued = machine.now();
	leg.queued_record = number;
	if (!is_stream)
		return;
	leg.ready = machine.now();
	leg.ready_record = number;
	leg.ready_interrupt = machine.outermost_interrupt(cpu);
}

// The receive softirq: all of the backlog, in order, by one CPU at a time.
Co Model::process(Interrupt &self, Backlog &backlog)
{
	co_await machine.work(self, 3, 25);
	if (!backlog.processing) {
		backlog.processing = true;
		std::vector<std::pair<Link *, Message *>> unannounced; // by a mutant
		while (!backlog.queue.empty()) {
			Link &link = *backlog.queue.front().first;
			Message &message = *backlog.queue.front().second;
			backlog.queue.pop_front();
			co_await machine.work(self, 5, 60);
			if (message.dropped)
				continue;
			if (scenario.transport == Transport::Stream && scenario.enqueued) {
				queued(link, message, self.cpu);
				co_await machine.work(self, 1, 8);
			}
			enqueue(link, message);
			co_await machine.work(self, 3, 40);
			if (!backlog.queue.empty() && machine.mutates(Mutant::AnnouncesSeveral)) {
				unannounced.emplace_back(&link, &message);
				continue;
			}
			ready(link, message, self.cpu);
			for (const auto &[of, before] : unannounced)
				of->told_with(*before, message);
			unannounced.clear();
			if (machine.mutates(Mutant::AnnouncesTwice)) {
				co_await machine.work(self, 2, 20);
				ready(link, message, self.cpu, true);
			}
			co_await machine.work(self, 2, 20);
			if (link.to_waits)
				co_await machine.wake(self, *link.to, message.id);
			co_await machine.work(self, 3, 30);
		}
		backlog.processing = false;
	}
	co_await machine.work(self, 3, 20);
}

std::function<Co(Interrupt &)> Model::processing(Backlog &backlog)
{
	return [this, &backlog](Interrupt &self) { return process(self, backlog); };
}

void Model::raise(Link &link, uint16_t cpu, bool in_task)
{
	Backlog &backlog = backlog_of(link, cpu);
	const bool stays = scenario.senders > 1 && !machine.mutates(Mutant::MovesPackets);
	const auto where = static_cast<unsigned>(machine.between(0, stays ? 6 : 9));
	if (where < 6 && in_task)
		return machine.softirq_now(cpu, 3, processing(backlog));
	if (where < 7)
		return machine.softirqd(cpu, 3, processing(backlog));
	machine.interrupt(where < 9 ? outside() : link.to->cpu, ICEPATH_INTERRUPT_SOFTIRQ, 3, processing(backlog));
}

Co Model::give_network(Link &link, Message &message)
{
	Task &self = *link.from;
	co_await machine.work(self, 10, 80);
	bool hold = scenario.transport == Transport::Stream && message.seq > 0 &&
				(!link.held.empty() || (scenario.held && machine.chance(0.5)));
	if (hold) {
		link.held.push_back(&message);
		if (link.held.size() == 1)
			flush_later(link);
		co_await machine.work(self, 5, 30);
		co_return;
	}
	if (scenario.transport == Transport::Stream && machine.chance(0.3)) {
		device(link, message, self.cpu, true);
		co_await machine.work(self, 10, 60);
	}
	device(link, message, self.cpu, false);
	co_await machine.work(self, 5, 50);
	raise(link, self.cpu, true);
	co_await machine.work(self, 5, 60);
}

// A softirq sends what was held, in order.
void Model::flush_later(Link &link)
{
	std::function<Co(Interrupt &)> flush = [this, &link](Interrupt &self) -> Co {
		co_await machine.work(self, 5, 60);
		while (!link.held.empty()) {
			Message &message = *link.held.front();
			device(link, message, self.cpu, false);
			co_await machine.work(self, 5, 40);
			link.held.pop_front();
		}
		raise(link, self.cpu, false);
		co_await machine.work(self, 5, 30);
	};
	uint16_t cpu = machine.chance(0.5) ? link.from->cpu : outside();
	machine.after(machine.between(20, 800),
				  [this, cpu, flush] { machine.interrupt(cpu, ICEPATH_INTERRUPT_SOFTIRQ, 2, flush); });
}

Co Model::give_slot(Link &link, Message &message)
{
	Task &self = *link.from;
	Leg &leg = message.legs[link.index];
	leg.publish = machine.now();
	// In reality two instructions; longer here, so that it often loses its CPU or is interrupted in between.
	co_await machine.work(self, 1, machine.chance(0.3) ? 300 : 15);
	enqueue(link, message);
	co_await machine.work(self, 2, 30);
	if (!link.to_waits)
		co_return;
	leg.call = machine.now();
	machine.doing(self, Doing::SendCall);
	co_await machine.work(self, 5, 80);
	if (link.to_waits)
		co_await machine.wake(self, *link.to, message.id);
	co_await machine.work(self, 5, 60);
	leg.call_return = machine.now();
}

// An eventfd: the slot is filled before the call, but no thread looks at it before the kernel has counted.
Co Model::give_bell(Link &link, Message &message)
{
	Task &self = *link.from;
	Leg &leg = message.legs[link.index];
	leg.publish = machine.now();
	co_await machine.work(self, 1, 15);
	leg.call = machine.now();
	machine.doing(self, Doing::SendCall);
	co_await machine.work(self, 5, 120);
	enqueue(link, message);
	co_await machine.work(self, 2, 40);
	if (link.to_waits)
		co_await machine.wake(self, *link.to, message.id);
	co_await machine.work(self, 5, 100);
	leg.call_return = machine.now();
}

// Into a UNIX socket, or another kernel queue without announcements.
Co Model::give_local(Link &link, Message &message)
{
	Task &self = *link.from;
	const bool announces = scenario.transport == Transport::Local;
	std::function<bool()> room = [this, &link] { return link.queue.size() < scenario.capacity; };
	if (!room()) {
		link.from_waits = true;
		co_await machine.wait_until(self, room, SleepFor::Room);
		link.from_waits = false;
	}
	if (announces && machine.chance(0.2)) {
		queued(link, message, self.cpu, true);
		co_await machine.work(self, 1, 8);
		ready(link, message, self.cpu, true);
		co_await machine.work(self, 10, 60);
	}
	queued(link, message, self.cpu);
	if (announces && scenario.enqueued)
		co_await machine.work(self, 1, 8);
	enqueue(link, message);
	co_await machine.work(self, 2, 40);
	if (announces) {
		ready(link, message, self.cpu);
		co_await machine.work(self, 2, 30);
	}
	if (link.to_waits)
		co_await machine.wake(self, *link.to, message.id);
}

Co Model::give(Link &link, Message &message)
{
	Task &self = *link.from;
	Leg &leg = message.legs[link.index];
	if (scenario.transport == Transport::Slot || scenario.transport == Transport::Bell) {
		if (scenario.transport == Transport::Slot)
			co_await give_slot(link, message);
		else
			co_await give_bell(link, message);
		machine.doing(self, Doing::Busy);
		co_return;
	}
	leg.call = machine.now();
	machine.doing(self, Doing::SendCall);
	co_await machine.work(self, 10, 150);
	if (scenario.locks && machine.chance(0.2)) {
		co_await machine.sleep_other(self, machine.any_wait_of_the_kernel());
		co_await machine.work(self, 5, 40);
	}
	const bool network = scenario.transport == Transport::Stream || scenario.transport == Transport::Datagram;
	if (network) {
		co_await give_network(link, message);
	} else {
		co_await give_local(link, message);
	}
	co_await machine.work(self, 10, 120);
	leg.call_return = machine.now();
	machine.doing(self, Doing::Busy);
}

// A middleware's queue with a condition variable.
Co Model::give_by_wake(Link &link, Message &message)
{
	Task &self = *link.from;
	uint64_t begin = machine.now();
	if (scenario.calls_known)
		machine.doing(self, Doing::SendCall);
	co_await machine.work(self, 5, 60);
	enqueue(link, message);
	co_await machine.work(self, 3, 30);
	if (link.to_waits)
		co_await machine.wake(self, *link.to, message.id);
	co_await machine.work(self, 5, 60);
	link.from_calls.push_back({begin, machine.now(), path::Call::Kind::Send, {}});
	machine.doing(self, Doing::Busy);
}

} // namespace icepath::simulator
