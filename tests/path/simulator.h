// SPDX-License-Identifier: Apache-2.0
#pragma once
// The forward model: a sender, its messages' way through a transport, relays and a receiver on a small machine, and the
// true path of each message, computed from the logs of what the threads really did. It doesn't use the walk's code.
#include <memory>
#include <set>
#include <string>

#include "profiler/path/observations.h"
#include "profiler/rundir/block.h"
#include "profiler/rundir/run.h"
#include "tests/path/machine.h"

namespace icepath::simulator {

enum class Transport : uint8_t {
	Local, // UNIX socket: sk_data_ready in the sending call
	Stream, // TCP
	Datagram, // UDP
	Queue, // a message queue: no ready event
	Slot, // user-space slot, with a futex where the reader sleeps
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

	static Scenario random(uint64_t seed);
	std::string text() const;
};

struct TrueSegment {
	path::Layer layer;
	path::Part part;
	uint16_t hop;
	uint32_t thread;
	uint64_t begin_ns, end_ns;
	friend bool operator==(const TrueSegment &, const TrueSegment &) = default;
};

struct Truth {
	uint64_t message = 0, send_ns = 0, recv_ns = 0;
	bool tellable = true; // false: no evidence could tell it; the walk has to say so
	std::vector<uint64_t> ready_ns; // of each transfer
	std::vector<uint64_t> inferred_ns; // those of them that no event tells
	std::vector<TrueSegment> segments;
};

// What is taken away from what the capture would have seen.
struct Damage {
	double lose = 0; // share of records
	bool tail = false; // a log was full
	bool shuffle = false, delay = false;
};

class Simulation {
public:
	explicit Simulation(const Scenario &scenario);
	~Simulation();
	void run();
	// What the walk may see. Relay-less scenarios go through a block and the decoder.
	path::Observations observe(const Damage &damage);
	rundir::Block block(const Damage &damage);
	rundir::Cell cell() const;
	std::vector<Truth> truths() const; // of the counted messages that were received

private:
	struct Impl;
	std::unique_ptr<Impl> impl_;
};

} // namespace icepath::simulator
