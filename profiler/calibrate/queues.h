// SPDX-License-Identifier: Apache-2.0
#pragma once
// The queues that are watched: one of each kind, with both of its ends in one thread, which sends a message and takes it out.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ebpf/watched.h"
#include "profiler/calibrate/placement.h"
#include "profiler/channel.h"

namespace icepath::calibrate {

// The calls are those of the target of the same name in transports/.
struct Queue {
	std::string target;
	icepath_watched watched;
	Hit ready = Hit::Last, taken = Hit::Last;
	std::vector<uint64_t> sizes; // ascending
	std::vector<Fd> ends; // the first one is of the file in which the watched word is
	// One whole message in one call, with payloads from `memory`; false: errno says why.
	std::function<bool(uint64_t bytes)> send, take;
};

inline constexpr uint64_t kMostBytes = 65536; // of a payload: what the smallest of the queues' usual sizes holds

// Throws Failure(MachineCannot) where one can't be made. `memory`: kMostBytes, and outlives the queues.
std::vector<Queue> make_queues(char *memory);

} // namespace icepath::calibrate
