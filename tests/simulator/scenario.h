// SPDX-License-Identifier: Apache-2.0
#pragma once
// A simulated cell, drawn from a seed, so that a number identifies it.
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
	Slot, // user-space slot, with a futex if the reader sleeps
	Bell, // the same, but the reader looks only after a call has notified it
};
// Behaviours of other kernels, one at a time, now and then.
enum class Mutant : uint8_t {
	None,
	LosesEnqueued, // a function's probe doesn't run, without a trace (kprobes)
	WakesUntold,
	AnnouncesSeveral, // several packets at once
	AnnouncesTwice, // a packet twice
	MovesPackets, // packets, to another CPU's queue
};
inline constexpr unsigned kMutants = 6;

enum class Edge : uint8_t { Transfer, Wake };

struct Scenario {
	uint64_t seed = 0;
	Transport transport = Transport::Local;
	model::Wait wait = model::Wait::Block;
	bool pingpong = false;
	std::vector<Edge> edges{Edge::Transfer}; // more than one: with relays
	unsigned messages = 6, warm_up = 1;
	unsigned capacity = 3;
	bool shared_cpu = false;
	bool preemption = false, interrupts = false, spurious = false, locks = false, batches = false, held = false;
	bool calls_known = true;
	bool busy_receiver = false, eager_sender = false;
	bool nmis = false;
	bool one_thread = false; // one thread has both ends
	bool throttled = false; // the kernel sometimes keeps threads from running
	bool exits_idle_first = false; // CPUs report leaving idle before they take the interrupt
	bool calibrated = false; // the calls' shares are known, truly or not: bounds hold all the same
	unsigned senders = 1; // more than one: fan-in into one queue
	bool senders_share = false; // they share a CPU
	bool enqueued = false; // a kernel function's record shows when a queue has a message
	uint64_t tick_ns = 0; // of the clock: events between two ticks have one time. 0: no two times are equal
	bool library = false; // its functions are stamped; its threads hand messages on, and may be moved
	uint32_t process_changes =
		0; // bit i: the i-th thread of the way is of another process than the one before, if it can be
	bool chatters = false; // another thread of the library is woken and sends heartbeats
	bool strangers = false; // its threads send heartbeats by UDP, and so do programs that aren't watched
	bool in_parts = false; // calls move less than a message
	bool callback = false; // the library's threads send and receive, and the sides' own sleep
	bool free_handlers = false; // by callback: the threads that send and receive may move, as others of the library
	bool preemptible_softirqs = false; // PREEMPT_RT: they run in tasks and lose their CPU with them

	Mutant mutant = Mutant::None;

	static Scenario random(uint64_t seed);
	bool alone() const { return edges.size() == 1; } // without relays
	std::vector<std::string> features() const; // names of the features in which scenarios differ
	std::string text() const;
};

} // namespace icepath::simulator
