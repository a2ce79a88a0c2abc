// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a simulated cell is like: drawn from a seed, so that a number names it.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/model/load.h"

namespace icepath::simulator {

enum class Transport : uint8_t {
	Local, // UNIX socket: sk_data_ready in the sending call
	Stream, // TCP
	Datagram, // UDP
	Queue, // a message queue: no ready event
	Slot, // user-space slot, with a futex where the reader sleeps
	Bell, // likewise, and the reader looks at it only once a call has told it to
};
// What a kernel might do that this one doesn't: now and then, in one way.
enum class Mutant : uint8_t {
	None,
	LosesEnqueued, // a probe of a function isn't run, without a trace (kprobes)
	WakesUntold,
	AnnouncesSeveral, // packets at once
	AnnouncesTwice, // a packet
	MovesPackets, // to another CPU's queue
};
inline constexpr unsigned kMutants = 6;

enum class Edge : uint8_t { Transfer, Wake };

struct Scenario {
	uint64_t seed = 0;
	Transport transport = Transport::Local;
	model::Wait wait = model::Wait::Block;
	bool pingpong = false;
	std::vector<Edge> edges{Edge::Transfer}; // more than one: there are relays
	unsigned messages = 6, warm_up = 1;
	unsigned capacity = 3;
	bool shared_cpu = false;
	bool preemption = false, interrupts = false, spurious = false, locks = false, batches = false, held = false;
	bool calls_known = true;
	bool busy_receiver = false, eager_sender = false;
	bool nmis = false;
	bool one_thread = false; // has both ends
	bool throttled = false; // the kernel keeps threads from running now and then
	bool exits_idle_first = false; // CPUs tell that they leave idle before they take the interrupt
	bool calibrated = false; // shares of the calls' time are known, true or not: bounds hold all the same
	unsigned senders = 1; // more than one: fan-in, into one queue
	bool senders_share = false; // their CPU
	bool enqueued = false; // a function of the kernel tells when a queue has a message
	uint64_t tick_ns = 0; // the clock's: what happens between two ticks has one time. 0: no two times are equal
	bool library = false; // its functions are stamped, threads of its own hand the messages on, and may be moved
	uint32_t process_changes =
		0; // bit i: the i-th thread of the way is of another process than the one before, if it can be
	bool chatters = false; // another thread of the library is woken, and sends heartbeats
	bool in_parts = false; // calls give and take less than a message
	bool preemptible_softirqs = false; // PREEMPT_RT: they run in tasks, and lose their CPU as these do

	Mutant mutant = Mutant::None;

	static Scenario random(uint64_t seed);
	bool alone() const { return edges.size() == 1; } // nobody hands the messages on
	std::vector<std::string> features() const; // by name, in which scenarios differ
	std::string text() const;
};

} // namespace icepath::simulator
