// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a simulated cell is like: drawn from a seed, so that a number names it.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/rundir/run.h"

namespace icepath::simulator {

enum class Transport : uint8_t {
	Local, // UNIX socket: sk_data_ready in the sending call
	Stream, // TCP
	Datagram, // UDP
	Queue, // a message queue: no ready event
	Slot, // user-space slot, with a futex where the reader sleeps
	Bell, // likewise, and the reader looks at it only once a call has told it to
};
enum class Edge : uint8_t { Transfer, Wake };

struct Scenario {
	uint64_t seed = 0;
	Transport transport = Transport::Local;
	rundir::Wait wait = rundir::Wait::Block;
	bool pingpong = false;
	std::vector<Edge> edges{Edge::Transfer}; // more than one: there are relays
	unsigned messages = 6, lead_in = 1;
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

	static Scenario random(uint64_t seed);
	std::string text() const;
};

} // namespace icepath::simulator
