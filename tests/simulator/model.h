// SPDX-License-Identifier: Apache-2.0
#pragma once
// The forward model: programs on a small machine for a sender, a transport, relays and a receiver. Keeps what happened
// to each message on each leg of its way; truth.h and seen.h describe that in two forms.
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "profiler/path/observations.h"
#include "tests/simulator/machine.h"
#include "tests/simulator/scenario.h"

namespace icepath::simulator {

inline constexpr uint64_t kPayload = 1000;
inline constexpr size_t kNoRecord = SIZE_MAX;

// One message on one edge of its way.
struct Leg {
	uint64_t call = 0, call_return = 0, publish = 0, enqueue = 0, device = 0, ready = 0;
	uint64_t queued = 0; // when a kernel function puts it into the queue
	size_t device_record = kNoRecord, ready_record = kNoRecord, taken_record = kNoRecord, queued_record = kNoRecord;
	uint32_t ready_tid = 0;
	uint8_t ready_context = 0;
	int ready_interrupt = -1, device_interrupt = -1;
	uint64_t ask = 0, wait_return = 0, take_call = 0, take_return = 0, taken = 0, observe = 0;
	bool follows = false;
	uint64_t announced_with = kNoMessage; // another message, for a mutant
};

struct Message {
	uint64_t id = 0, seq = 0;
	unsigned flow = 0;
	bool warm_up = false, dropped = false;
	uint64_t send = 0, recv = 0;
	// stamps of the library's functions
	uint64_t library_call = 0, library_return = 0, library_ask = 0, library_took = 0;
	std::vector<Leg> legs;
};

// What a thread takes from. If several senders share a queue, all links have the same.
struct Inbox {
	std::deque<Message *> queue;
	bool to_waits = false;
};

struct Link;

// One call's bytes in a socket, as far as they have arrived.
struct Bytes {
	Message *message = nullptr; // nullptr: not part of a message
	uint64_t count = 0;
	bool is_last = true; // of the message
};

// Packets on their way to their sockets.
struct Backlog {
	std::deque<std::pair<Link *, Message *>> queue;
	bool processing = false;
};

struct Link {
	explicit Link(Inbox &inbox) : queue(inbox.queue), to_waits(inbox.to_waits) {}
	Edge edge = Edge::Transfer;
	size_t index = 0; // of its messages' leg
	unsigned flow = 0;
	uint64_t sender_key = 0, receiver_key = 0; // of its sockets
	Task *from = nullptr, *to = nullptr;
	std::deque<Message *> &queue, held;
	bool &to_waits;
	bool from_waits = false;
	Backlog backlog;
	std::deque<Bytes> bytes; // in a library's socket
	uint32_t base = 0; // TCP
	std::vector<path::Call> from_calls, to_calls;
	// One announcement serves another message as well.
	void told_with(Message &message, const Message &announced) const
	{
		Leg &leg = message.legs[index];
		const Leg &as = announced.legs[index];
		leg.announced_with = announced.id;
		leg.ready = as.ready;
		leg.ready_record = as.ready_record;
		leg.ready_tid = as.ready_tid;
		leg.ready_context = as.ready_context;
		leg.ready_interrupt = as.ready_interrupt;
	}
};

class Model {
public:
	explicit Model(const Scenario &given) : scenario(given), machine(given.seed, thread_count(given) + 1) {}
	void run();
	// The last CPU, which no thread of the scenario uses.
	uint16_t outside() const { return static_cast<uint16_t>(thread_count(scenario)); }

	// The threads of a flow, from its giver to its last taker, which are the same if one thread has both ends.
	std::vector<Task *> chain(unsigned flow) const;
	unsigned flows() const { return scenario.pingpong ? 2 : scenario.senders; }

	const Scenario scenario;
	Machine machine;
	std::vector<Task *> threads;
	std::vector<Task *> sleepers; // the sides' own threads, where a library's send and receive
	std::deque<Inbox> inboxes;
	std::deque<Link> links; // by flow; with relays, by leg
	std::deque<Message> messages;
	std::vector<std::vector<Message *>> sent, received; // by flow
	std::map<uint32_t, std::vector<path::Call>> futex_calls; // by tid: the known ones
	std::map<uint32_t, uint32_t> process_of; // by tid, of a library

private:
	static unsigned thread_count(const Scenario &scenario)
	{
		return scenario.one_thread ? 1 : static_cast<unsigned>(scenario.edges.size()) + scenario.senders;
	}

	// model_giving.cc
	void enqueue(Link &link, Message &message);
	void queued(Link &link, Message &message, uint16_t cpu, bool part = false);
	Co give_local(Link &link, Message &message);
	void device(Link &link, Message &message, uint16_t cpu, bool part);
	void ready(Link &link, Message &message, uint16_t cpu, bool part = false);
	Co process(Interrupt &self, Backlog &backlog);
	Backlog &backlog_of(Link &link, uint16_t cpu) { return scenario.senders > 1 ? backlogs_[cpu] : link.backlog; }
	std::function<Co(Interrupt &)> processing(Backlog &backlog);
	void raise(Link &link, uint16_t cpu, bool in_task);
	Co give_network(Link &link, Message &message);
	void flush_later(Link &link);
	Co give_slot(Link &link, Message &message);
	Co give_bell(Link &link, Message &message);
	Co give(Link &link, Message &message);
	Co give_by_wake(Link &link, Message &message);

	// model_taking.cc
	Co wait_for_message(Link &link, std::optional<Doing> after_sleep = {});
	Message &dequeue(Link &link);
	Co receive_slot(Link &link, std::vector<Message *> &got);
	Co receive(Link &link, std::vector<Message *> &got);
	Co receive_by_wake(Link &link, std::vector<Message *> &got);

	// model_library.cc
	static uint64_t socket_of(const Link &link);
	uint64_t begin_call(Task &self);
	void end_call(Task &self, uint64_t begin_ns, uint8_t kind, uint64_t object, int64_t result);
	Co pause_in_library(Task &self);
	Co give_bytes(Task &self, Link &link, const Bytes &bytes);
	Co give_in_library(Link &link, Message &message);
	int64_t take_some(Link &link, std::vector<Message *> &got, std::vector<Message *> &parts_of);
	Co take_bytes(Link &link, std::vector<Message *> &got);
	Co take_in_memory(Link &link, std::vector<Message *> &got);
	Co take_in_library(Link &link, std::vector<Message *> &got);
	Co library_sender(Task &self, Link &link);
	Co library_relay(Task &self, Link &in, Link &out);
	Co library_receiver(Task &self, Link &in);
	Co sleeper(Task &self);
	Co chatterer(Task &self, Link &link);
	void add_library();

	// model_strangers.cc
	std::function<Co(Interrupt &)> arrival(uint64_t bytes);
	Co heartbeat_sender(Task &self, uint64_t socket);
	Co heartbeat_reader(Task &self);
	void stranger_sends();
	void add_strangers();

	// model.cc
	Co dawdle(Task &self, double probability);
	Co send_one(Task &self, Link &link);
	Co take_any(Link &link, std::vector<Message *> &got);
	Co deliver(Task &self, Link &link);
	Co sender(Task &self, Link &link);
	Co relay(Task &self, Link &in, Link &out);
	Co receiver(Task &self, Link &in);
	Co both(Task &self);
	void disturb(uint64_t least, uint64_t most, const std::function<void()> &what);
	void add_links();
	void add_messages();
	Co program_of(size_t thread);
	void arm();

	Link *chatters_for_ = nullptr;
	Task *chatterer_ = nullptr;
	unsigned errands_ = 0;
	bool chatterer_waits_ = false;
	Task *heartbeat_reader_ = nullptr;
	std::deque<uint64_t> heartbeats_; // bytes of each datagram in its socket
	bool heartbeat_reader_waits_ = false;
	unsigned open_ = 0; // messages still to be received
	std::vector<size_t> next_; // by flow: the next message to send
	std::map<uint16_t, Backlog> backlogs_; // by CPU: datagrams of several senders
};

} // namespace icepath::simulator
