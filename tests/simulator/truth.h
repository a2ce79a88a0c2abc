// SPDX-License-Identifier: Apache-2.0
#pragma once
// The true path of each message, from the logs of what the threads really did. Doesn't use the walk's code.
#include <cstdint>
#include <map>
#include <vector>

#include "profiler/model/layers.h"
#include "tests/simulator/model.h"

namespace icepath::simulator {

struct TrueSegment {
	model::Layer layer;
	model::Part part;
	uint16_t hop;
	uint32_t thread;
	uint64_t begin_ns, end_ns;
	friend bool operator==(const TrueSegment &, const TrueSegment &) = default;
};

// Where a thread really was, what had these CPUs, and when it was really throttled.
struct TrueCpu {
	const Machine *machine = nullptr;
	const Task *thread = nullptr;
};

struct Truth {
	uint64_t message = 0, send_ns = 0, recv_ns = 0;
	bool counts_hops = true; // false: hand-overs in memory may have passed more threads than the walk can see
	bool tellable = true; // false: no evidence can show it, and the walk has to say so
	std::vector<uint64_t> ready_ns; // of each transfer
	std::vector<uint64_t> inferred_ns; // of the transfers without an event
	std::vector<TrueSegment> segments;
	std::map<uint32_t, TrueCpu> cpus; // by thread; valid as long as the model
};

// Of the counted messages that were received.
std::vector<Truth> truths_of(const Model &model);

} // namespace icepath::simulator
