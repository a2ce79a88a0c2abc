// SPDX-License-Identifier: Apache-2.0
#include "tests/path/simulator.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "icepath/plugin.h"
#include "profiler/path/decode.h"
#include "profiler/path/log.h"

namespace icepath::simulator {

using path::Layer;
using path::Part;
using rundir::Wait;

namespace {

constexpr uint64_t kPayload = 1000;
constexpr size_t kNoRecord = SIZE_MAX;
constexpr uint32_t kFirstTid = 10, kSoftirqdTid = 700, kForeignTid = 800, kStranger = 950;
constexpr uint64_t kKeys[2] = {11, 22};

// One message over one edge of its way.
struct Leg {
	uint64_t call = 0, call_return = 0, publish = 0, enqueue = 0, device = 0, ready = 0;
	size_t device_record = kNoRecord, ready_record = kNoRecord, taken_record = kNoRecord;
	uint32_t ready_tid = 0;
	uint8_t ready_context = 0;
	int ready_interrupt = -1, device_interrupt = -1;
	uint64_t ask = 0, wait_return = 0, take_call = 0, take_return = 0, taken = 0, observe = 0;
	bool follows = false;
};

struct Message {
	uint64_t id = 0, seq = 0;
	bool lead_in = false, dropped = false;
	uint64_t send = 0, recv = 0;
	std::vector<Leg> legs;
};

struct Link {
	Edge edge = Edge::Transfer;
	size_t index = 0;
	unsigned direction = 0;
	Task *from = nullptr, *to = nullptr;
	std::deque<Message *> queue, held, backlog;
	bool to_waits = false, from_waits = false, processing = false;
	uint32_t base = 0; // TCP
	std::vector<path::Call> from_calls, to_calls;
};

} // namespace

struct Simulation::Impl {
	explicit Impl(const Scenario &given) : scenario(given), machine(given.seed, thread_count(given) + 1) {}

	static unsigned thread_count(const Scenario &scenario) { return static_cast<unsigned>(scenario.edges.size()) + 1; }

	Scenario scenario;
	Machine machine;
	std::vector<Task *> threads;
	std::deque<Link> links; // of direction 0, then the one of direction 1
	std::deque<Message> messages;
	std::array<std::vector<Message *>, 2> sent, received; // by direction
	unsigned open = 0; // messages that will still be received

	uint16_t outside() const { return static_cast<uint16_t>(thread_count(scenario)); }
	bool all_done() const { return open == 0; }

	// ---- giving ----

	void enqueue(Link &link, Message &message)
	{
		message.legs[link.index].enqueue = machine.now();
		link.queue.push_back(&message);
	}

	void device(Link &link, Message &message, uint16_t cpu, bool part)
	{
		icepath_record record{};
		record.type = ICEPATH_RECORD_DEVICE_QUEUE;
		record.context = machine.context(cpu);
		record.tid = machine.current_tid(cpu);
		record.socket.socket = kKeys[link.direction];
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
		link.backlog.push_back(&message);
	}

	void ready(Link &link, Message &message, uint16_t cpu, bool part = false)
	{
		icepath_record record{};
		record.type = ICEPATH_RECORD_DATA_READY;
		record.context = machine.context(cpu);
		record.tid = machine.current_tid(cpu);
		record.socket.socket = kKeys[1 - link.direction];
		if (scenario.transport == Transport::Stream) {
			record.socket.has_stream_end = 1;
			record.socket.stream_end = static_cast<uint32_t>(link.base + (message.seq + 1) * kPayload);
		}
		size_t number = machine.emit(cpu, record);
		if (part)
			return;
		Leg &leg = message.legs[link.index];
		leg.ready = machine.now();
		leg.ready_record = number;
		leg.ready_tid = record.tid;
		leg.ready_context = record.context;
		leg.ready_interrupt = record.context == ICEPATH_CONTEXT_TASK ? -1 : machine.outermost_interrupt(cpu);
	}

	// The receive softirq: whatever is in the backlog, in order, by one CPU at a time.
	Co process(Interrupt &self, Link &link)
	{
		co_await machine.work(self, 3, 25);
		if (!link.processing) {
			link.processing = true;
			while (!link.backlog.empty()) {
				Message &message = *link.backlog.front();
				link.backlog.pop_front();
				co_await machine.work(self, 5, 60);
				if (message.dropped)
					continue;
				enqueue(link, message);
				co_await machine.work(self, 3, 40);
				ready(link, message, self.cpu);
				co_await machine.work(self, 2, 20);
				if (link.to_waits)
					co_await machine.wake(self, *link.to, message.id);
				co_await machine.work(self, 3, 30);
			}
			link.processing = false;
		}
		co_await machine.work(self, 3, 20);
	}

	std::function<Co(Interrupt &)> processing(Link &link)
	{
		return [this, &link](Interrupt &self) { return process(self, link); };
	}

	void raise(Link &link, uint16_t cpu, bool in_task)
	{
		unsigned where = static_cast<unsigned>(machine.between(0, 9));
		if (where < 6 && in_task)
			return machine.softirq_now(cpu, 3, processing(link));
		if (where < 7) {
			std::function<Co(Task &)> softirqd = [this, &link](Task &self) -> Co {
				co_await machine.work(self, 5, 60);
				machine.softirq_now(self.cpu, 3, processing(link));
				co_await machine.work(self, 5, 60);
			};
			machine.after(1, [this, cpu, softirqd] { machine.foreign(cpu, kSoftirqdTid + cpu, softirqd); });
			return;
		}
		machine.interrupt(where < 9 ? outside() : link.to->cpu, ICEPATH_INTERRUPT_SOFTIRQ, 3, processing(link));
	}

	Co give_network(Link &link, Message &message)
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

	// What was held goes out from a softirq, in order.
	void flush_later(Link &link)
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

	Co give_slot(Link &link, Message &message)
	{
		Task &self = *link.from;
		Leg &leg = message.legs[link.index];
		leg.publish = machine.now();
		co_await machine.work(self, 1, 15);
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

	Co give(Link &link, Message &message)
	{
		Task &self = *link.from;
		Leg &leg = message.legs[link.index];
		if (scenario.transport == Transport::Slot) {
			co_await give_slot(link, message);
			machine.doing(self, Doing::Busy);
			co_return;
		}
		leg.call = machine.now();
		machine.doing(self, Doing::SendCall);
		co_await machine.work(self, 10, 150);
		const bool network = scenario.transport == Transport::Stream || scenario.transport == Transport::Datagram;
		if (network) {
			co_await give_network(link, message);
		} else {
			std::function<bool()> room = [this, &link] { return link.queue.size() < scenario.capacity; };
			if (!room()) {
				link.from_waits = true;
				co_await machine.wait_until(self, room, SleepFor::Room);
				link.from_waits = false;
			}
			if (scenario.transport == Transport::Local && machine.chance(0.2)) {
				ready(link, message, self.cpu, true);
				co_await machine.work(self, 10, 60);
			}
			enqueue(link, message);
			co_await machine.work(self, 2, 40);
			if (scenario.transport == Transport::Local) {
				ready(link, message, self.cpu);
				co_await machine.work(self, 2, 30);
			}
			if (link.to_waits)
				co_await machine.wake(self, *link.to, message.id);
		}
		co_await machine.work(self, 10, 120);
		leg.call_return = machine.now();
		machine.doing(self, Doing::Busy);
	}

	// A middleware's queue behind a condition variable.
	Co give_by_wake(Link &link, Message &message)
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

	// ---- taking ----

	Co wait_for_message(Link &link, std::optional<Doing> after_sleep = {})
	{
		std::function<bool()> condition = [&link] { return !link.queue.empty(); };
		link.to_waits = true;
		co_await machine.wait_until(*link.to, condition, SleepFor::Message, after_sleep);
		link.to_waits = false;
	}

	Message &dequeue(Link &link)
	{
		Message &message = *link.queue.front();
		link.queue.pop_front();
		return message;
	}

	Co receive_slot(Link &link, std::vector<Message *> &got)
	{
		Task &self = *link.to;
		uint64_t ask = machine.now(), wait_return = 0;
		machine.doing(self, Doing::Looking);
		co_await machine.work(self, 3, 25);
		while (link.queue.empty()) {
			if (scenario.wait == Wait::Poll) {
				co_await machine.work(self, 3, 25);
				continue;
			}
			co_await machine.work(self, 5, 30);
			co_await wait_for_message(link, Doing::InCall);
			co_await machine.work(self, 5, 60);
			wait_return = machine.now();
			machine.doing(self, Doing::Looking);
			co_await machine.work(self, 2, 20);
		}
		Message &message = dequeue(link);
		co_await machine.work(self, 1, 6);
		Leg &leg = message.legs[link.index];
		leg.ask = ask;
		leg.wait_return = wait_return;
		leg.observe = machine.now();
		machine.doing(self, Doing::After);
		got.push_back(&message);
	}

	Co receive(Link &link, std::vector<Message *> &got)
	{
		if (scenario.transport == Transport::Slot) {
			co_await receive_slot(link, got);
			co_return;
		}
		Task &self = *link.to;
		const uint64_t ask = machine.now();
		uint64_t wait_return = 0, take_call = 0;
		if (scenario.wait == Wait::Poll) {
			machine.doing(self, Doing::Looking);
			co_await machine.work(self, 1, 10);
			for (;;) {
				take_call = machine.now();
				size_t since = machine.mark(self);
				co_await machine.work(self, 5, 50);
				if (!link.queue.empty()) {
					for (size_t i = since; i < self.log.size(); ++i)
						self.log[i].doing = Doing::InCall;
					self.doing = Doing::InCall;
					break;
				}
				co_await machine.work(self, 5, 60);
			}
		} else if (scenario.wait == Wait::Epoll) {
			machine.doing(self, Doing::InCall);
			co_await machine.work(self, 3, 40);
			co_await wait_for_message(link);
			co_await machine.work(self, 3, 60);
			wait_return = machine.now();
			machine.doing(self, Doing::WaitUser);
			co_await machine.work(self, 3, 40);
			take_call = machine.now();
			machine.doing(self, Doing::InCall);
			co_await machine.work(self, 5, 50);
		} else {
			machine.doing(self, Doing::WaitUser);
			co_await machine.work(self, 1, 8);
			take_call = machine.now();
			machine.doing(self, Doing::InCall);
			co_await machine.work(self, 3, 40);
			co_await wait_for_message(link);
		}
		do {
			Message &message = dequeue(link);
			got.push_back(&message);
			co_await machine.work(self, 5, 60);
			if (scenario.transport == Transport::Local || scenario.transport == Transport::Stream) {
				icepath_record record{};
				record.type = ICEPATH_RECORD_TAKEN;
				record.tid = self.tid;
				record.socket.bytes = kPayload;
				for (Message *one : got) { // the last copy of the read
					one->legs[link.index].taken = machine.now();
					one->legs[link.index].taken_record = machine.records.size();
				}
				machine.emit(self.cpu, record);
			}
			if (link.from_waits)
				co_await machine.wake(self, *link.from, kNoMessage);
			co_await machine.work(self, 3, 30);
		} while (scenario.batches && !link.queue.empty() && machine.chance(0.7));
		if (scenario.locks && machine.chance(0.15))
			co_await machine.sleep_other(self, SleepFor::Page);
		co_await machine.work(self, 5, 80);
		for (Message *message : got) {
			Leg &leg = message->legs[link.index];
			leg.ask = ask;
			leg.wait_return = wait_return;
			leg.take_call = take_call;
			leg.take_return = machine.now();
			leg.follows = message != got.front();
		}
		machine.doing(self, Doing::After);
	}

	Co receive_by_wake(Link &link, std::vector<Message *> &got)
	{
		Task &self = *link.to;
		uint64_t begin = machine.now();
		machine.doing(self, scenario.calls_known ? Doing::InCall : Doing::After);
		co_await machine.work(self, 5, 30);
		co_await wait_for_message(link);
		co_await machine.work(self, 5, 60);
		link.to_calls.push_back({begin, machine.now(), path::Call::Kind::ReadinessWait, {}});
		machine.doing(self, Doing::After);
		got.push_back(&dequeue(link));
	}

	// ---- programs ----

	Co dawdle(Task &self, double probability)
	{
		if (scenario.locks && machine.chance(probability)) {
			bool timer = machine.chance(0.4);
			co_await machine.sleep_other(self, timer ? SleepFor::Timer : SleepFor::Lock);
		}
		co_await machine.work(self, 5, 120);
	}

	Co send_one(Task &self, Link &link)
	{
		Message &message = *sent[link.direction][next_[link.direction]++];
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

	Co take_any(Link &link, std::vector<Message *> &got)
	{
		if (link.edge == Edge::Transfer)
			co_await receive(link, got);
		else
			co_await receive_by_wake(link, got);
	}

	Co deliver(Task &self, Link &link)
	{
		std::vector<Message *> got;
		co_await take_any(link, got);
		for (Message *message : got) {
			co_await machine.work(self, 3, 80);
			co_await dawdle(self, 0.15);
			message->recv = machine.now();
			received[link.direction].push_back(message);
			--open;
		}
		machine.doing(self, Doing::Busy);
		co_await machine.work(self, 3, 20);
	}

	Co sender(Task &self)
	{
		for (unsigned i = 0; i < scenario.messages; ++i) {
			co_await machine.work(self, 10, scenario.eager_sender ? 100 : 1500);
			if (!scenario.eager_sender)
				co_await dawdle(self, 0.4);
			co_await send_one(self, links[0]);
			if (scenario.pingpong)
				co_await deliver(self, links[1]);
		}
	}

	Co relay(Task &self, Link &in, Link &out)
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

	Co receiver(Task &self, Link &in)
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

	// ---- disturbances ----

	void disturb(uint64_t least, uint64_t most, std::function<void()> what)
	{
		machine.after(machine.between(least, most), [=, this] {
			what();
			disturb(least, most, what);
		});
	}

	void arm()
	{
		auto worker_cpu = [this] { return threads[machine.between(0, threads.size() - 1)]->cpu; };
		std::function<Co(Task &)> some_work = [this](Task &self) -> Co { co_await machine.work(self, 20, 700); };
		if (scenario.preemption)
			disturb(100, 2500, [=, this] {
				machine.foreign(worker_cpu(), kForeignTid + static_cast<uint32_t>(machine.between(0, 3)), some_work);
			});
		disturb(300, 3000, [=, this] { machine.foreign(outside(), kForeignTid + 9, some_work); });
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
		if (scenario.spurious)
			disturb(50, 1500, [this] {
				Link &link = links[machine.between(0, links.size() - 1)];
				if (link.to_waits)
					machine.wake_from_outside(*link.to, {kStranger, ICEPATH_CONTEXT_TASK, 0, kNoMessage});
			});
	}

	void run()
	{
		const size_t count = thread_count(scenario);
		for (size_t i = 0; i < count; ++i) {
			bool shares = scenario.shared_cpu && i + 1 == count;
			threads.push_back(
				&machine.add_thread(kFirstTid + static_cast<uint32_t>(i), static_cast<uint16_t>(shares ? 0 : i)));
		}
		for (size_t i = 0; i + 1 < count; ++i) {
			Link &link = links.emplace_back();
			link.edge = scenario.edges[i];
			link.index = i;
			link.from = threads[i];
			link.to = threads[i + 1];
		}
		if (scenario.pingpong) {
			Link &back = links.emplace_back();
			back.direction = 1;
			back.from = threads[1];
			back.to = threads[0];
		}
		for (Link &link : links)
			link.base = UINT32_MAX - static_cast<uint32_t>(machine.between(0, 3 * kPayload));
		for (unsigned direction = 0; direction < (scenario.pingpong ? 2u : 1u); ++direction)
			for (unsigned i = 0; i < scenario.messages; ++i) {
				Message &message = messages.emplace_back();
				message.seq = i;
				message.id = (static_cast<uint64_t>(direction) << 63) | i;
				message.lead_in = i < scenario.lead_in;
				message.dropped =
					scenario.transport == Transport::Datagram && !scenario.pingpong && i > 0 && machine.chance(0.05);
				message.legs.resize(links.size() > 1 && !scenario.pingpong ? links.size() : 1);
				sent[direction].push_back(&message);
				open += !message.dropped;
			}
		for (size_t i = count; i-- > 0;) {
			Task &self = *threads[i];
			if (i == 0)
				machine.start(self, sender(self));
			else if (i + 1 == count)
				machine.start(self, receiver(self, links[i - 1]));
			else
				machine.start(self, relay(self, links[i - 1], links[i]));
		}
		arm();
		machine.run([this] { return all_done(); });
		// The last call comes back, too.
		uint64_t until = machine.now() + 5000;
		machine.run([&] { return machine.now() > until; });
	}

	// ---- truth ----

	using Segments = std::vector<TrueSegment>;

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
		return hop == 0 ? Layer::SenderUser : hop == scenario.edges.size() ? Layer::ReceiverUser : Layer::RelayUser;
	}
	Layer kernel(size_t hop) const
	{
		return hop == 0                       ? Layer::SenderKernel
			   : hop == scenario.edges.size() ? Layer::ReceiverKernel
											  : Layer::RelayKernel;
	}

	static std::pair<Layer, Part> slept(SleepFor kind)
	{
		switch (kind) {
		case SleepFor::Room:
			return {Layer::Blocked, Part::Backpressure};
		case SleepFor::Lock:
			return {Layer::Blocked, Part::Lock};
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

	void runnable(Segments &out, const Sleep &sleep, size_t hop, const Task &thread, uint64_t from,
				  uint64_t until) const
	{
		if (sleep.idle_exit_ns > from && sleep.idle_exit_ns < until) {
			add(out, Layer::Runqueue, Part::IdleExit, hop, thread, from, sleep.idle_exit_ns);
			from = sleep.idle_exit_ns;
		}
		add(out, Layer::Runqueue, Part::None, hop, thread, from, until);
	}

	void waking(Segments &out, const Sleep &sleep, size_t hop, const Task &thread, uint64_t from, uint64_t until) const
	{
		if (sleep.ipi_ns > from && sleep.ipi_ns <= until) {
			add(out, Layer::Wakeup, Part::Ipi, hop, thread, from, sleep.ipi_ns);
			from = sleep.ipi_ns;
		}
		if (sleep.idle_exit_ns > from && sleep.idle_exit_ns <= until) {
			add(out, Layer::Wakeup, Part::IdleExit, hop, thread, from, sleep.idle_exit_ns);
			from = sleep.idle_exit_ns;
		}
		add(out, Layer::Wakeup, Part::None, hop, thread, from, until);
	}

	// A thread that has the message.
	void holding(Segments &out, const Task &thread, size_t hop, uint64_t begin, uint64_t end, bool backlog,
				 const Leg *own) const
	{
		spans(thread, begin, end, [&](const Span &span, uint64_t from, uint64_t until) {
			if (span.state == State::Interrupted && foreign_to(span, own))
				return add(out, Layer::Interrupt, Part::None, hop, thread, from, until);
			switch (span.state) {
			case State::Running:
			case State::Interrupted: {
				bool in_call = span.doing == Doing::SendCall || span.doing == Doing::InCall;
				return add(out, in_call ? kernel(hop) : user(hop), backlog ? Part::Backlog : Part::None, hop, thread,
						   from, until);
			}
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
		bool by_giver = sleep.waker.message == message.id && sleep.waker.context == ICEPATH_CONTEXT_TASK;
		if (!by_giver)
			return add(out, layer, Part::Notify, hop, thread, from, until);
		spans(giver, from, until, [&](const Span &span, uint64_t a, uint64_t b) {
			if (span.state == State::Interrupted && foreign_to(span, &leg))
				return add(out, Layer::Interrupt, Part::None, hop - 1, giver, a, b);
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
			if (span.state == State::Interrupted && foreign_to(span, &leg))
				return put(Layer::Interrupt);
			if (span.state == State::Running || span.state == State::Interrupted) {
				Part part = span.spurious ? Part::Spurious : Part::None;
				if (!asking)
					return put(Layer::Queue, Part::Busy);
				if (span.doing == Doing::Looking)
					return put(Layer::Propagation);
				return put(span.doing == Doing::WaitUser ? user(hop) : kernel(hop), part);
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
			bool delivers = sleep.waker.message == message.id;
			if (span.state == State::Asleep)
				return notify(out, message, leg, sleep, giver, thread, hop, from, until);
			if (!delivers)
				return put(span.state == State::Waking ? Layer::Wakeup : Layer::Runqueue, Part::Spurious);
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

	uint64_t ready_of(const Leg &leg, const Message &message, const Task &taker, bool &inferred) const
	{
		if (scenario.transport == Transport::Slot)
			return leg.publish;
		uint64_t by = leg.taken ? std::min(leg.taken, leg.take_return) : leg.take_return;
		if (leg.ready != 0 && leg.ready <= by)
			return leg.ready;
		if (scenario.transport == Transport::Queue && scenario.wait != Wait::Poll)
			if (const Sleep *sleep = woken_for(taker, message.id); sleep && sleep->waking_ns <= by)
				return sleep->waking_ns;
		inferred = true;
		return leg.enqueue;
	}

	Truth truth_of(const Message &message, unsigned direction) const
	{
		Truth truth;
		truth.message = message.id;
		truth.send_ns = message.send;
		truth.recv_ns = message.recv;
		Segments &out = truth.segments;
		std::vector<const Task *> chain(threads.begin(), threads.end());
		if (direction == 1)
			std::ranges::reverse(chain);
		uint64_t since = message.send;
		bool backlog = false;
		const Leg *own = nullptr;
		for (size_t hop = 0; hop < scenario.edges.size(); ++hop) {
			const Leg &leg = message.legs[hop];
			const Task &giver = *chain[hop], &taker = *chain[hop + 1];
			if (scenario.edges[hop] == Edge::Wake) {
				const Sleep *sleep = woken_for(taker, message.id);
				// Only who took the message from a transfer, or sent it, is known to carry it.
				bool known_carrier = hop == 0 || scenario.edges[hop - 1] == Edge::Transfer;
				if (!sleep || !known_carrier) {
					truth.tellable = false;
					return truth;
				}
				holding(out, giver, hop, since, sleep->waking_ns, false, nullptr);
				since = sleep->waking_ns;
				continue;
			}
			bool inferred = false;
			uint64_t ready = ready_of(leg, message, taker, inferred);
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
			backlog = leg.follows && hop + 1 == scenario.edges.size();
		}
		holding(out, *chain.back(), scenario.edges.size(), since, message.recv, backlog, own);
		return truth;
	}

	// ---- what is seen ----

	std::vector<rundir::SlotCapture> slots(const Damage &damage, std::set<size_t> &lost)
	{
		std::vector<rundir::SlotCapture> all(outside() + 1);
		std::vector<std::vector<size_t>> order(all.size());
		for (size_t i = 0; i < machine.records.size(); ++i) {
			uint16_t cpu = machine.records[i].cpu;
			order[machine.cpu(cpu).of_worker ? cpu : outside()].push_back(i);
		}
		for (size_t slot = 0; slot < all.size(); ++slot) {
			all[slot].cpu = slot == outside() ? -1 : static_cast<int32_t>(slot);
			auto &numbers = order[slot];
			if (damage.delay) { // numbered up to three places late
				std::vector<std::pair<size_t, size_t>> keyed;
				for (size_t i = 0; i < numbers.size(); ++i)
					keyed.emplace_back(i + (machine.chance(0.2) ? machine.between(0, 3) : 0), numbers[i]);
				std::ranges::stable_sort(keyed, {}, [](const auto &pair) { return pair.first; });
				for (size_t i = 0; i < numbers.size(); ++i)
					numbers[i] = keyed[i].second;
			}
			size_t capacity = damage.tail && machine.chance(0.5) ? machine.between(0, numbers.size()) : numbers.size();
			for (size_t i = 0; i < numbers.size(); ++i) {
				if (i >= capacity || (damage.lose > 0 && machine.chance(damage.lose))) {
					lost.insert(numbers[i]);
					continue;
				}
				icepath_record record = machine.records[numbers[i]];
				record.seq = static_cast<uint32_t>(i);
				all[slot].records.push_back(record);
			}
			all[slot].position = static_cast<uint32_t>(numbers.size());
			all[slot].capacity = static_cast<uint32_t>(capacity);
			if (damage.shuffle)
				std::ranges::shuffle(all[slot].records, machine.random);
		}
		return all;
	}

	rundir::Block block(const Damage &damage)
	{
		rundir::Block block;
		std::set<size_t> lost;
		block.probed = true;
		block.begin.monotonic_ns = 900;
		block.finish.monotonic_ns = machine.now();
		block.slots = slots(damage, lost);
		for (unsigned side = 0; side < 2; ++side) {
			block.sides[side].tid = threads[side]->tid;
			block.sides[side].cpu = threads[side]->cpu;
			block.socket_keys[side] = kKeys[side];
		}
		for (unsigned direction = 0; direction < 2; ++direction) {
			for (const Message *message : sent[direction]) {
				if (message->send == 0)
					continue;
				const Leg &leg = message->legs[0];
				block.sides[direction].sends.push_back({message->seq, message->send, message->send, leg.call,
														leg.publish, leg.call_return, 1,
														message->lead_in ? rundir::kStampLeadIn : 0, 0});
			}
			uint64_t last_recv = 0;
			for (const Message *message : received[direction]) {
				const Leg &leg = message->legs[0];
				uint64_t ask = leg.follows ? last_recv : leg.ask; // as a plug-in asks for what it has already
				block.sides[1 - direction].recvs.push_back({message->seq, ask, leg.follows ? 0 : leg.wait_return,
															leg.take_call, leg.take_return, leg.observe, message->recv,
															1, message->lead_in ? rundir::kStampLeadIn : 0});
				last_recv = message->recv;
			}
		}
		return block;
	}

	static std::optional<path::Mark> mark(uint64_t at_ns)
	{
		return at_ns ? std::optional(path::Mark{at_ns, {}, path::Provenance::Exact}) : std::nullopt;
	}

	// The walk's number of an interrupt, as the log's reader gave it.
	std::optional<uint32_t> number_of(const path::Observations &seen, int interrupt, const std::set<size_t> &lost) const
	{
		if (interrupt < 0 || !machine.interrupt_record[interrupt] ||
			lost.contains(*machine.interrupt_record[interrupt]))
			return {};
		const icepath_record &record = machine.records[*machine.interrupt_record[interrupt]];
		if (auto cpu = seen.cpus.find(record.cpu); cpu != seen.cpus.end())
			for (const path::Interrupt &one : cpu->second.interrupts)
				if (one.begin_ns == record.interrupt.begin_ns && one.end_ns == record.end_ns)
					return one.record;
		return {};
	}

	path::Observations chain(const Damage &damage)
	{
		path::Observations seen;
		std::set<size_t> lost;
		seen.begin_ns = 900;
		seen.end_ns = machine.now();
		for (const Task *task : threads) {
			path::Thread &thread = seen.threads[task->tid];
			thread.tid = task->tid;
			thread.first_cpu = task->cpu;
		}
		path::read_log(slots(damage, lost), seen);
		for (const Link &link : links) {
			if (link.edge != Edge::Wake || !scenario.calls_known)
				continue;
			auto &from = seen.threads[link.from->tid].calls, &to = seen.threads[link.to->tid].calls;
			from.insert(from.end(), link.from_calls.begin(), link.from_calls.end());
			to.insert(to.end(), link.to_calls.begin(), link.to_calls.end());
		}
		for (const Message &message : messages) // those of lost messages, too
			for (const Link &link : links) {
				const Leg &leg = message.legs[link.index];
				if (link.edge == Edge::Transfer && leg.call != 0 && leg.call_return != 0)
					seen.threads[link.from->tid].calls.push_back(
						{leg.call, leg.call_return, path::Call::Kind::Send, {}});
			}
		for (auto &[tid, thread] : seen.threads)
			std::ranges::sort(thread.calls, {}, &path::Call::begin_ns);
		for (const Message *message : sent[0]) {
			for (const Link &link : links) {
				const Leg &leg = message->legs[link.index];
				if (link.edge != Edge::Transfer || (leg.take_return == 0 && leg.observe == 0))
					continue;
				path::Transfer transfer;
				transfer.message = message->id;
				transfer.from = link.from->tid;
				transfer.to = link.to->tid;
				transfer.call = mark(leg.call);
				transfer.through_device =
					scenario.transport == Transport::Stream || scenario.transport == Transport::Datagram;
				transfer.call_return = mark(leg.call_return);
				transfer.publish = mark(leg.publish);
				if (!lost.contains(leg.device_record))
					transfer.device = mark(leg.device);
				if (!lost.contains(leg.ready_record)) {
					transfer.ready = mark(leg.ready);
					transfer.ready_tid = leg.ready_tid;
					transfer.ready_context = leg.ready_context;
					transfer.ready_in_softirq = leg.ready_context != ICEPATH_CONTEXT_TASK;
					transfer.ready_interrupt = number_of(seen, leg.ready_interrupt, lost);
				}
				transfer.device_interrupt = number_of(seen, leg.device_interrupt, lost);
				transfer.ask = *mark(leg.ask);
				transfer.polls = scenario.wait == Wait::Poll;
				transfer.wait_return = mark(leg.wait_return);
				transfer.take_call = mark(leg.take_call);
				transfer.take_return = mark(leg.take_return);
				transfer.taken = mark(scenario.transport == Transport::Slot ? leg.observe
									  : lost.contains(leg.taken_record)     ? 0
																			: leg.taken);
				transfer.follows_in_read = leg.follows;
				seen.transfers.push_back(transfer);
			}
			if (message->recv != 0 && !message->lead_in)
				seen.deliveries.push_back({message->id, threads.front()->tid, threads.back()->tid, *mark(message->send),
										   *mark(message->recv)});
		}
		return seen;
	}

	std::array<size_t, 2> next_{};
};

Simulation::Simulation(const Scenario &scenario) : impl_(std::make_unique<Impl>(scenario)) {}
Simulation::~Simulation() = default;
void Simulation::run() { impl_->run(); }

rundir::Block Simulation::block(const Damage &damage) { return impl_->block(damage); }

rundir::Cell Simulation::cell() const
{
	const Scenario &scenario = impl_->scenario;
	rundir::Cell cell;
	cell.pattern = scenario.pingpong ? rundir::Pattern::PingPong : rundir::Pattern::OneWay;
	cell.wait = scenario.wait;
	cell.payload_bytes = kPayload;
	switch (scenario.transport) {
	case Transport::Local:
		cell.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_SKB_COPY;
		break;
	case Transport::Stream:
		cell.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_NETDEV | ICEPATH_USES_BYTE_STREAM | ICEPATH_USES_SKB_COPY;
		break;
	case Transport::Datagram:
		cell.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_NETDEV;
		break;
	case Transport::Queue:
		break;
	case Transport::Slot:
		cell.mechanisms = ICEPATH_USES_USER_SLOT;
		break;
	}
	return cell;
}

path::Observations Simulation::observe(const Damage &damage)
{
	if (impl_->scenario.edges.size() > 1 || impl_->scenario.edges[0] == Edge::Wake)
		return impl_->chain(damage);
	return path::decode(impl_->block(damage), cell());
}

std::vector<Truth> Simulation::truths() const
{
	std::vector<Truth> all;
	for (unsigned direction = 0; direction < 2; ++direction)
		for (const Message *message : impl_->received[direction])
			if (!message->lead_in)
				all.push_back(impl_->truth_of(*message, direction));
	return all;
}

Scenario Scenario::random(uint64_t seed)
{
	std::mt19937_64 random(seed);
	auto chance = [&](double probability) { return std::bernoulli_distribution(probability)(random); };
	auto pick = [&](unsigned most) { return std::uniform_int_distribution<unsigned>(0, most)(random); };
	Scenario scenario;
	scenario.seed = seed;
	scenario.transport = static_cast<Transport>(pick(4));
	scenario.wait = static_cast<Wait>(pick(2));
	scenario.edges.clear();
	for (unsigned relays = chance(0.6) ? 0 : 1 + pick(2); scenario.edges.size() <= relays;)
		scenario.edges.push_back(chance(!scenario.edges.empty() && scenario.edges.back() == Edge::Wake ? 0.1 : 0.4)
									 ? Edge::Wake
									 : Edge::Transfer);
	if (scenario.edges.size() == 1)
		scenario.edges[0] = Edge::Transfer;
	bool alone = scenario.edges.size() == 1;
	scenario.pingpong = alone && chance(0.4);
	scenario.messages = 4 + pick(6);
	scenario.capacity = 1 + pick(3);
	scenario.shared_cpu = chance(0.2);
	scenario.preemption = chance(0.4);
	scenario.interrupts = chance(0.4);
	scenario.spurious = chance(0.35);
	scenario.locks = chance(0.35);
	scenario.batches = alone && !scenario.pingpong && chance(0.4);
	scenario.held = alone && chance(0.4);
	scenario.calls_known = chance(0.5);
	scenario.busy_receiver = chance(0.4);
	scenario.eager_sender = chance(0.4);
	return scenario;
}

std::string Scenario::text() const
{
	constexpr const char *kTransports[] = {"local", "stream", "datagram", "queue", "slot"};
	constexpr const char *kWaits[] = {"block", "poll", "epoll"};
	std::string line =
		fmt::format("seed {}: {} {}", seed, kTransports[static_cast<int>(transport)], kWaits[static_cast<int>(wait)]);
	for (Edge edge : edges)
		line += edge == Edge::Transfer ? " -transfer" : " -wake";
	for (auto [flag, name] : std::initializer_list<std::pair<bool, const char *>>{{pingpong, "pingpong"},
																				  {shared_cpu, "shared_cpu"},
																				  {preemption, "preemption"},
																				  {interrupts, "interrupts"},
																				  {spurious, "spurious"},
																				  {locks, "locks"},
																				  {batches, "batches"},
																				  {held, "held"},
																				  {calls_known, "calls_known"},
																				  {busy_receiver, "busy_receiver"},
																				  {eager_sender, "eager_sender"}})
		if (flag)
			line += fmt::format(" {}", name);
	return line;
}

} // namespace icepath::simulator
