// SPDX-License-Identifier: Apache-2.0
#pragma once
// The forward model: a sender, its messages' way through a transport, relays and a receiver as programs of a small machine.
// What happened to each message on each leg of its way is kept; truth.h and seen.h tell it in two ways.
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "profiler/path/observations.h"
#include "tests/path/machine.h"
#include "tests/path/scenario.h"

namespace icepath::simulator {

inline constexpr uint64_t kPayload = 1000;
inline constexpr size_t kNoRecord = SIZE_MAX;
inline constexpr std::array<uint64_t, 2> kKeys = {11, 22}; // of the sockets of both sides

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

class Model {
public:
	explicit Model(const Scenario &given) : scenario(given), machine(given.seed, thread_count(given) + 1) {}
	void run();
	// The last CPU: nobody of the scenario lives there.
	uint16_t outside() const { return static_cast<uint16_t>(thread_count(scenario)); }

	// Of direction 0, from its giver to its last taker: both are one where one thread has both ends.
	std::vector<Task *> chain() const;

	const Scenario scenario;
	Machine machine;
	std::vector<Task *> threads;
	std::deque<Link> links; // of direction 0, then the one of direction 1
	std::deque<Message> messages;
	std::array<std::vector<Message *>, 2> sent, received; // by direction
	std::map<uint32_t, std::vector<path::Call>> futex_calls; // by tid: those that are known

private:
	static unsigned thread_count(const Scenario &scenario)
	{
		return scenario.one_thread ? 1 : static_cast<unsigned>(scenario.edges.size()) + 1;
	}

	// model_giving.cc
	void enqueue(Link &link, Message &message);
	void device(Link &link, Message &message, uint16_t cpu, bool part);
	void ready(Link &link, Message &message, uint16_t cpu, bool part = false);
	Co process(Interrupt &self, Link &link);
	std::function<Co(Interrupt &)> processing(Link &link);
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

	// model.cc
	Co dawdle(Task &self, double probability);
	Co send_one(Task &self, Link &link);
	Co take_any(Link &link, std::vector<Message *> &got);
	Co deliver(Task &self, Link &link);
	Co sender(Task &self);
	Co relay(Task &self, Link &in, Link &out);
	Co receiver(Task &self, Link &in);
	Co both(Task &self);
	void disturb(uint64_t least, uint64_t most, std::function<void()> what);
	void arm();

	unsigned open_ = 0; // messages that will still be received
	std::array<size_t, 2> next_{};
};

} // namespace icepath::simulator
