// SPDX-License-Identifier: Apache-2.0
// A library: its functions are stamped, and its own threads hand messages on, by sockets between processes and by
// condition variables within one. Every system call has a record.
#include <algorithm>
#include <cerrno>

#include "tests/simulator/model.h"

namespace icepath::simulator {

namespace {

constexpr uint64_t kSockets = 0x1000, kTheirPeers = 0x2000, kWords = 0x9000, kLocks = 0xa000, kChattersWord = 0xb000;
constexpr uint32_t kOwnTids = 100; // from a library's thread that handles messages to the side's own

} // namespace

uint64_t Model::socket_of(const Link &link) { return kSockets + link.index; } // where its messages are taken

uint64_t Model::begin_call(Task &self)
{
	machine.doing(self, Doing::InCall);
	machine.cpu(self.cpu).watched = true;
	return machine.now();
}

void Model::end_call(Task &self, uint64_t begin_ns, uint8_t kind, uint64_t object, int64_t result)
{
	icepath_record record{};
	record.type = ICEPATH_RECORD_CALL;
	record.tid = self.tid;
	record.call.begin_ns = begin_ns;
	record.call.kind = kind;
	record.call.object = object;
	record.call.result = static_cast<uint64_t>(result);
	machine.emit(self.cpu, record);
	machine.doing(self, Doing::Busy);
}

// Sleeps for something else: a timer, a lock of the program's, or a page.
Co Model::pause_in_library(Task &self)
{
	if (machine.chance(0.3)) {
		co_await machine.sleep_other(self, SleepFor::Page);
		co_await machine.work(self, 5, 60);
		co_return;
	}
	const bool locks = machine.chance(0.5);
	const uint64_t word = kLocks + self.tid;
	uint64_t begin = begin_call(self);
	co_await machine.work(self, 5, 40);
	co_await machine.sleep_other(self, locks ? SleepFor::Futex : SleepFor::Timer);
	co_await machine.work(self, 5, 40);
	end_call(self, begin, locks ? ICEPATH_CALL_FUTEX_LOCK : ICEPATH_CALL_OTHER, locks ? word : 0, 0);
	co_await machine.work(self, 5, 60);
	if (!locks)
		co_return;
	begin = begin_call(self);
	co_await machine.work(self, 5, 40);
	end_call(self, begin, ICEPATH_CALL_FUTEX_WAKE, word, 0);
	co_await machine.work(self, 5, 60);
}

// Gives bytes into a socket: of a message, or of none.
Co Model::give_bytes(Task &self, Link &link, const Bytes &bytes)
{
	const uint64_t begin = begin_call(self);
	co_await machine.work(self, 10, 120);
	link.bytes.push_back(bytes);
	const uint64_t queued_ns = machine.now();
	co_await machine.work(self, 2, 40);
	icepath_record record{};
	record.type = ICEPATH_RECORD_DATA_READY;
	record.tid = self.tid;
	record.socket.socket = socket_of(link);
	machine.emit(self.cpu, record);
	if (bytes.message && bytes.is_last) {
		Leg &leg = bytes.message->legs[link.index];
		leg.call = begin;
		leg.enqueue = queued_ns;
		leg.ready = machine.now();
	}
	co_await machine.work(self, 2, 30);
	if (link.to_waits)
		co_await machine.wake(self, *link.to, bytes.message && bytes.is_last ? bytes.message->id : kNoMessage);
	co_await machine.work(self, 10, 100);
	end_call(self, begin, ICEPATH_CALL_GIVE, kTheirPeers + link.index, static_cast<int64_t>(bytes.count));
}

Co Model::give_in_library(Link &link, Message &message)
{
	Task &self = *link.from;
	co_await machine.work(self, 5, 100);
	if (scenario.locks && machine.chance(0.2))
		co_await pause_in_library(self);
	if (chatters_for_ == &link && machine.chance(0.5)) { // unrelated to the message
		const uint64_t begin = begin_call(self);
		co_await machine.work(self, 5, 60);
		++errands_;
		if (chatterer_waits_)
			co_await machine.wake(self, *chatterer_, kNoMessage);
		co_await machine.work(self, 5, 60);
		end_call(self, begin, ICEPATH_CALL_FUTEX_WAKE, kChattersWord, 1);
		co_await machine.work(self, 5, 60);
	}
	if (link.edge == Edge::Transfer) {
		const uint64_t first = scenario.in_parts && machine.chance(0.3) ? kPayload / 3 : 0;
		if (first > 0) {
			co_await give_bytes(self, link, {&message, first, false});
			co_await machine.work(self, 5, 60);
		}
		co_await give_bytes(self, link, {&message, kPayload - first, true});
	} else {
		Leg &leg = message.legs[link.index];
		leg.enqueue = machine.now();
		link.queue.push_back(&message);
		co_await machine.work(self, 3, 60);
		if (link.to_waits || machine.chance(0.3)) {
			const uint64_t begin = begin_call(self);
			co_await machine.work(self, 5, 60);
			if (link.to_waits)
				co_await machine.wake(self, *link.to, message.id);
			co_await machine.work(self, 5, 60);
			end_call(self, begin, ICEPATH_CALL_FUTEX_WAKE, kWords + link.index, 1);
		}
	}
	co_await machine.work(self, 5, 60);
}

// Takes in one call, often all that is there.
int64_t Model::take_some(Link &link, std::vector<Message *> &got, std::vector<Message *> &parts_of)
{
	int64_t sum = 0;
	do {
		Bytes &first = link.bytes.front();
		if (scenario.in_parts && sum == 0 && first.count > 200 && machine.chance(0.3)) {
			parts_of.push_back(first.message);
			first.count -= 200;
			return 200;
		}
		sum += static_cast<int64_t>(first.count);
		if (first.message)
			parts_of.push_back(first.message);
		if (first.message && first.is_last)
			got.push_back(first.message);
		link.bytes.pop_front();
	} while (!link.bytes.empty() && machine.chance(0.5));
	return sum;
}

Co Model::take_bytes(Link &link, std::vector<Message *> &got)
{
	Task &self = *link.to;
	std::function<bool()> condition = [&link] { return !link.bytes.empty(); };
	std::vector<std::pair<uint64_t, uint64_t>> waits;
	std::map<Message *, std::vector<std::pair<uint64_t, uint64_t>>> takes;
	while (got.empty()) {
		if (scenario.wait == model::Wait::Epoll) {
			const uint64_t begin = begin_call(self);
			co_await machine.work(self, 3, 40);
			link.to_waits = true;
			co_await machine.wait_until(self, condition, SleepFor::Message);
			link.to_waits = false;
			co_await machine.work(self, 3, 60);
			end_call(self, begin, ICEPATH_CALL_READINESS, 0, 1);
			waits.emplace_back(begin, machine.now());
			co_await machine.work(self, 3, 40);
		}
		const uint64_t begin = begin_call(self);
		co_await machine.work(self, 5, 60);
		if (link.bytes.empty() && scenario.wait == model::Wait::Poll) {
			end_call(self, begin, ICEPATH_CALL_TAKE, socket_of(link), -EAGAIN);
			co_await machine.work(self, 5, 60);
			continue;
		}
		link.to_waits = true;
		co_await machine.wait_until(self, condition, SleepFor::Message);
		link.to_waits = false;
		std::vector<Message *> parts_of;
		const int64_t bytes = take_some(link, got, parts_of);
		co_await machine.work(self, 10, 100);
		end_call(self, begin, ICEPATH_CALL_TAKE, socket_of(link), bytes);
		for (Message *one : parts_of)
			takes[one].emplace_back(begin, machine.now());
		if (got.empty())
			co_await machine.work(self, 5, 60);
	}
	for (Message *message : got) {
		Leg &leg = message->legs[link.index];
		const auto came_back = [&](const auto &one) { return one.second >= leg.ready; };
		const auto &its = takes[message];
		leg.ask = std::ranges::find_if(its, came_back)->first;
		if (const auto wait = std::ranges::find_if(waits, came_back); wait != waits.end())
			leg.ask = std::min(leg.ask, wait->first);
		leg.take_return = its.back().second;
	}
	co_await machine.work(self, 5, 60);
}

// A condition variable: a thread calls the kernel only if it has to sleep.
Co Model::take_in_memory(Link &link, std::vector<Message *> &got)
{
	Task &self = *link.to;
	std::function<bool()> condition = [&link] { return !link.queue.empty(); };
	uint64_t begin = 0;
	co_await machine.work(self, 5, 60);
	while (link.queue.empty()) {
		begin = begin_call(self);
		co_await machine.work(self, 5, 40);
		link.to_waits = true;
		co_await machine.wait_until(self, condition, SleepFor::Message);
		link.to_waits = false;
		co_await machine.work(self, 5, 60);
		end_call(self, begin, ICEPATH_CALL_FUTEX_WAIT, kWords + link.index, 0);
		link.queue.front()->legs[link.index].ask = begin;
		link.queue.front()->legs[link.index].take_return = machine.now();
		co_await machine.work(self, 5, 60);
	}
	got.push_back(link.queue.front());
	link.queue.pop_front();
}

Co Model::take_in_library(Link &link, std::vector<Message *> &got)
{
	if (link.edge == Edge::Transfer)
		co_await take_bytes(link, got);
	else
		co_await take_in_memory(link, got);
}

Co Model::library_sender(Task &self, Link &link)
{
	for (Message *message : sent[0]) {
		co_await machine.work(self, 10, 300);
		message->send = machine.now();
		co_await machine.work(self, 5, 60);
		message->library_call = machine.now();
		co_await give_in_library(link, *message);
		message->library_return = machine.now();
		co_await machine.work(self, 5, 60);
		const auto has_come = [&] { return received[0].size() > message->seq; };
		for (const bool hurries = machine.chance(0.1); !hurries && !has_come();) {
			const uint64_t begin = begin_call(self);
			co_await machine.sleep_other(self, SleepFor::Timer);
			end_call(self, begin, ICEPATH_CALL_OTHER, 0, 0);
			co_await machine.work(self, 5, 60);
		}
	}
}

Co Model::library_relay(Task &self, Link &in, Link &out)
{
	for (;;) {
		std::vector<Message *> got;
		co_await take_in_library(in, got);
		for (Message *message : got) {
			if (scenario.locks && machine.chance(0.15))
				co_await pause_in_library(self);
			co_await give_in_library(out, *message);
		}
	}
}

Co Model::library_receiver(Task &self, Link &in)
{
	for (;;) {
		const uint64_t ask = machine.now();
		machine.mark(self);
		co_await machine.work(self, 3, 60);
		std::vector<Message *> got;
		co_await take_in_library(in, got);
		for (Message *message : got) {
			message->library_ask = message == got.front() && !scenario.callback ? ask : machine.now();
			co_await machine.work(self, 3, 60);
			message->library_took = machine.now();
			co_await machine.work(self, 3, 60);
			if (scenario.locks && machine.chance(0.15))
				co_await pause_in_library(self);
			message->recv = machine.now();
			received[0].push_back(message);
			--open_;
			co_await machine.work(self, 3, 60);
		}
		if (scenario.busy_receiver && machine.chance(0.5))
			co_await machine.work(self, 100, 1500);
	}
}

// A side's own thread while a library's handles its messages.
Co Model::sleeper(Task &self)
{
	std::function<bool()> never = [] { return false; };
	begin_call(self);
	co_await machine.wait_until(self, never, SleepFor::Message);
}

// Another thread of a giver's process, which sends heartbeats to its peer.
Co Model::chatterer(Task &self, Link &link)
{
	std::function<bool()> condition = [this] { return errands_ > 0; };
	for (;;) {
		const uint64_t begin = begin_call(self);
		co_await machine.work(self, 5, 40);
		chatterer_waits_ = true;
		co_await machine.wait_until(self, condition, SleepFor::Message);
		chatterer_waits_ = false;
		errands_ = 0;
		co_await machine.work(self, 5, 60);
		end_call(self, begin, ICEPATH_CALL_FUTEX_WAIT, kChattersWord, 0);
		co_await machine.work(self, 5, 200);
		if (link.edge == Edge::Transfer && machine.chance(0.7))
			co_await give_bytes(self, link, {nullptr, machine.between(1, 20), true});
	}
}

void Model::add_library()
{
	uint32_t process = threads.front()->tid;
	for (size_t i = 0; i < threads.size(); ++i) {
		if (i > 0 && scenario.edges[i - 1] == Edge::Transfer && scenario.process_changes >> i & 1)
			process = threads[i]->tid;
		process_of[threads[i]->tid] = process;
	}
	if (scenario.callback)
		for (const Task *handler : {threads.front(), threads.back()}) {
			Task &own = machine.add_thread(handler->tid + kOwnTids, handler->cpu);
			sleepers.push_back(&own);
			process_of[own.tid] = process_of[handler->tid];
		}
	if (scenario.chatters) {
		chatters_for_ = &links[machine.between(0, links.size() - 1)];
		chatterer_ = &machine.add_library_thread(threads.back()->tid + 1, outside());
		process_of[chatterer_->tid] = process_of[chatters_for_->from->tid];
		machine.start(*chatterer_, chatterer(*chatterer_, *chatters_for_));
	}
	if (scenario.strangers)
		add_strangers();
	// The receiver's tid is its process's number.
	const uint32_t last = process_of[threads.back()->tid], receiver = threads.back()->tid;
	if (last != threads.front()->tid)
		for (auto &[tid, of] : process_of)
			of = of == last ? receiver : of;
	for (const auto &[tid, of] : process_of) {
		icepath_record record{};
		record.type = ICEPATH_RECORD_THREAD;
		record.tid = tid;
		record.thread.tgid = of;
		machine.emit(outside(), record);
	}
}

} // namespace icepath::simulator
