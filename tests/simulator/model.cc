// SPDX-License-Identifier: Apache-2.0
#include "tests/simulator/model.h"

#include "profiler/model/stamps.h"

namespace icepath::simulator {

namespace {

constexpr uint32_t kFirstTid = 10, kForeignTid = 800, kStranger = 950;
constexpr uint64_t kSenderKey = 11, kReceiverKey = 22; // of the first sender

} // namespace

Co Model::dawdle(Task &self, double probability)
{
	if (scenario.locks && machine.chance(probability)) {
		// Calls of a relay's threads, and of the thread that sends to one.
		const bool is_known = scenario.calls_known && scenario.edges.size() > 1 && &self != threads.back();
		if (machine.chance(0.4)) {
			co_await machine.sleep_other(self, SleepFor::Timer);
		} else if (is_known) {
			const Doing before = self.doing;
			const uint64_t begin = machine.now();
			machine.doing(self, Doing::InCall);
			co_await machine.sleep_other(self, SleepFor::Futex);
			futex_calls[self.tid].push_back({begin, machine.now(), path::Call::Kind::FutexLock, {}});
			machine.doing(self, before);
		} else {
			co_await machine.sleep_other(self, machine.chance(0.5) ? SleepFor::Lock : machine.any_wait_of_the_kernel());
		}
	}
	co_await machine.work(self, 5, 120);
}

Co Model::send_one(Task &self, Link &link)
{
	Message &message = *sent[link.flow][next_[link.flow]++];
	co_await machine.work(self, 1, 5);
	message.send = machine.now();
	machine.doing(self, Doing::SendUser);
	co_await machine.work(self, 5, 100);
	co_await dawdle(self, 0.2);
	if (link.edge == Edge::Transfer)
		co_await give(link, message);
	else
		co_await give_by_wake(link, message);
	co_await machine.work(self, 3, 20);
}

Co Model::take_any(Link &link, std::vector<Message *> &got)
{
	if (link.edge == Edge::Transfer)
		co_await receive(link, got);
	else
		co_await receive_by_wake(link, got);
}

Co Model::deliver(Task &self, Link &link)
{
	std::vector<Message *> got;
	co_await take_any(link, got);
	for (Message *message : got) {
		co_await machine.work(self, 3, 80);
		co_await dawdle(self, 0.15);
		message->recv = machine.now();
		received[message->flow].push_back(message);
		--open_;
	}
	machine.doing(self, Doing::Busy);
	co_await machine.work(self, 3, 20);
}

Co Model::sender(Task &self, Link &link)
{
	for (unsigned i = 0; i < scenario.messages; ++i) {
		co_await machine.work(self, 10, scenario.eager_sender ? 100 : 1500);
		if (!scenario.eager_sender)
			co_await dawdle(self, 0.4);
		co_await send_one(self, link);
		if (scenario.pingpong)
			co_await deliver(self, links[1]);
	}
}

Co Model::both(Task &self)
{
	for (unsigned i = 0; i < scenario.messages; ++i) {
		co_await machine.work(self, 10, scenario.eager_sender ? 100 : 1500);
		if (!scenario.eager_sender)
			co_await dawdle(self, 0.4);
		for (Link &link : links) {
			co_await send_one(self, link);
			co_await deliver(self, link);
		}
	}
}

Co Model::relay(Task &self, Link &in, Link &out)
{
	for (;;) {
		std::vector<Message *> got;
		co_await take_any(in, got);
		for (Message *message : got) {
			co_await machine.work(self, 5, 120);
			co_await dawdle(self, 0.15);
			if (out.edge == Edge::Transfer)
				co_await give(out, *message);
			else
				co_await give_by_wake(out, *message);
		}
		co_await machine.work(self, 5, 60);
	}
}

Co Model::receiver(Task &self, Link &in)
{
	for (;;) {
		if (scenario.busy_receiver && machine.chance(0.6)) {
			co_await machine.work(self, 50, 1500);
			co_await dawdle(self, 0.4);
		}
		co_await deliver(self, in);
		if (scenario.pingpong)
			co_await send_one(self, links[1]);
	}
}

void Model::disturb(uint64_t least, uint64_t most, const std::function<void()> &what)
{
	machine.after(machine.between(least, most), [=, this] {
		what();
		disturb(least, most, what);
	});
}

void Model::arm()
{
	auto worker_cpu = [this] { return threads[machine.between(0, threads.size() - 1)]->cpu; };
	std::function<Co(Task &)> some_work = [this](Task &self) -> Co { co_await machine.work(self, 20, 700); };
	if (scenario.preemption)
		disturb(100, 2500, [=, this] {
			machine.foreign(worker_cpu(), kForeignTid + static_cast<uint32_t>(machine.between(0, 3)), some_work);
		});
	if (scenario.throttled)
		disturb(300, 5000, [=, this] { machine.throttle(worker_cpu()); });
	disturb(300, 3000, [=, this] { machine.foreign(outside(), kForeignTid + 9, some_work); });
	if (scenario.library)
		disturb(100, 1000, [this] { machine.balance(); });
	if (scenario.strangers)
		disturb(500, 5000, [this] { stranger_sends(); });
	if (scenario.interrupts)
		disturb(30, 1200, [=, this] {
			bool soft = machine.chance(0.4), device = machine.chance(0.3);
			std::function<Co(Interrupt &)> handler = [this](Interrupt &self) -> Co {
				co_await machine.work(self, 5, self.kind == ICEPATH_INTERRUPT_SOFTIRQ ? 200 : 60);
			};
			machine.interrupt(worker_cpu(),
							  soft     ? ICEPATH_INTERRUPT_SOFTIRQ
							  : device ? ICEPATH_INTERRUPT_DEVICE
									   : ICEPATH_INTERRUPT_TIMER,
							  soft ? 9 : 33, handler);
		});
	if (scenario.nmis)
		disturb(100, 1500, [=, this] {
			std::function<Co(Interrupt &)> handler = [this](Interrupt &self) -> Co {
				co_await machine.work(self, 5, 60);
			};
			machine.interrupt(worker_cpu(), ICEPATH_INTERRUPT_NMI, 0, handler);
		});
	if (scenario.spurious)
		disturb(50, 1500, [this] {
			Link &link = links[machine.between(0, links.size() - 1)];
			if (link.to_waits)
				machine.wake_from_outside(*link.to, {kStranger, ICEPATH_CONTEXT_TASK, 0, kNoMessage});
		});
}

std::vector<Task *> Model::chain(unsigned flow) const
{
	if (scenario.one_thread)
		return {threads[0], threads[0]};
	if (scenario.pingpong && flow == 1)
		return {threads[1], threads[0]};
	if (scenario.senders > 1)
		return {threads[flow], threads.back()};
	return threads;
}

void Model::add_links()
{
	for (unsigned flow = 0; flow < flows(); ++flow) {
		const std::vector<Task *> way = chain(flow);
		for (size_t leg = 0; leg + 1 < way.size(); ++leg) {
			if (flow == 0 || scenario.senders == 1)
				inboxes.emplace_back();
			Link &link = links.emplace_back(inboxes.back());
			link.edge = scenario.edges[leg];
			link.index = leg;
			link.flow = flow;
			link.from = way[leg];
			link.to = way[leg + 1];
			link.sender_key = scenario.pingpong && flow == 1 ? kReceiverKey : kSenderKey + flow;
			link.receiver_key = scenario.pingpong && flow == 1 ? kSenderKey : kReceiverKey;
			link.base = UINT32_MAX - static_cast<uint32_t>(machine.between(0, 3 * kPayload));
		}
	}
}

void Model::add_messages()
{
	sent.resize(flows());
	received.resize(flows());
	next_.resize(flows());
	for (unsigned flow = 0; flow < flows(); ++flow)
		for (unsigned i = 0; i < scenario.messages; ++i) {
			Message &message = messages.emplace_back();
			message.seq = i;
			message.flow = flow;
			message.id = model::message_at({flow, i});
			message.warm_up = i < scenario.warm_up;
			message.dropped = scenario.transport == Transport::Datagram && !scenario.pingpong && i > 0 &&
							  machine.chance(0.05) && !scenario.one_thread; // which would wait for it forever
			message.legs.resize(scenario.edges.size());
			sent[flow].push_back(&message);
			open_ += !message.dropped;
		}
}

Co Model::program_of(size_t thread)
{
	Task &self = *threads[thread];
	const bool is_last = thread + 1 == threads.size();
	if (scenario.one_thread)
		return both(self);
	if (scenario.library)
		return thread == 0 ? library_sender(self, links[0])
			   : is_last   ? library_receiver(self, links.back())
						   : library_relay(self, links[thread - 1], links[thread]);
	if (thread < scenario.senders)
		return sender(self, links[scenario.pingpong ? 0 : thread]);
	return is_last ? receiver(self, scenario.pingpong ? links[0] : links.back())
				   : relay(self, links[thread - 1], links[thread]);
}

void Model::run()
{
	machine.exits_idle_first = scenario.exits_idle_first;
	machine.tick_ns = scenario.tick_ns;
	machine.preemptible_softirqs = scenario.preemptible_softirqs;
	machine.mutant = scenario.mutant;
	const size_t count = thread_count(scenario);
	for (size_t i = 0; i < count; ++i) {
		const bool shares = (scenario.shared_cpu && i + 1 == count) || (scenario.senders_share && i + 1 < count);
		const auto tid = kFirstTid + static_cast<uint32_t>(i);
		const auto cpu = static_cast<uint16_t>(shares ? 0 : i);
		const bool is_pinned = !scenario.library || (!scenario.free_handlers && (i == 0 || i + 1 == count));
		threads.push_back(is_pinned ? &machine.add_thread(tid, cpu) : &machine.add_library_thread(tid, cpu));
	}
	add_links();
	add_messages();
	if (scenario.library)
		add_library();
	for (size_t i = count; i-- > 0;)
		machine.start(*threads[i], program_of(i));
	for (Task *own : sleepers)
		machine.start(*own, sleeper(*own));
	arm();
	machine.run([this] { return open_ == 0; });
	// The last call returns, too.
	uint64_t until = machine.now() + 5000;
	machine.run([&] { return machine.now() > until; });
	for (const Task *thread : scenario.callback ? sleepers : threads)
		if (thread->out_ns != 0 && thread->pinned) {
			icepath_record record{};
			record.type = ICEPATH_RECORD_STILL_OFF;
			record.tid = thread->tid;
			record.off.out_ns = thread->out_ns;
			machine.emit(thread->cpu, record);
		}
}

} // namespace icepath::simulator
