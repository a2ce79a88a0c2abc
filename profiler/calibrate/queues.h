// SPDX-License-Identifier: Apache-2.0
#pragma once
// The watched queues: one of each kind. One thread has both ends, sends a message and takes it out.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ebpf/watched.h"
#include "profiler/calibrate/placement.h"
#include "profiler/channel.h"

namespace icepath::calibrate {

// Uses the same calls as the target of that name in transports/.
struct Queue {
	std::string target;
	icepath_watched watched;
	Hit ready = Hit::Last, taken = Hit::Last;
	std::vector<uint64_t> sizes; // ascending
	std::vector<Fd> ends; // the first is the file that has the watched word
	// Pass one whole message in one call, with the payload in `memory`; false: errno says why.
	std::function<bool(uint64_t bytes)> send, take;
};

inline constexpr uint64_t kMostBytes = 65536; // of a payload: fits into the smallest of the queues' default sizes

// Throws Failure(MachineCannot) if one can't be made. `memory`: kMostBytes long; must outlive the queues.
std::vector<Queue> make_queues(char *memory);

} // namespace icepath::calibrate
