// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two processes that exchange single bytes over a UNIX socket (SOCK_SEQPACKET, because newer kernels record less for
// streams), and what one or several captures record of it.
#include <array>
#include <cstdint>
#include <vector>

#include "ebpf/records.h"
#include "profiler/capture/capture.h"

namespace icepath::capture {

inline constexpr int kTrips = 500;
inline constexpr uint64_t kFirstKey = 10, kSecondKey = 11; // of the two ends

// What one capture recorded.
struct Seen {
	size_t count(uint8_t type) const;
	std::vector<icepath_record> of_socket(uint8_t type, uint64_t key) const; // in the order of the log
	std::vector<icepath_record> records;
	std::vector<icepath_slot> heads;
	Selection selection;
	std::vector<SkippedPrograms> skipped;
};

struct Exchange {
	// All captures see the same exchange, each with these probes.
	Exchange(std::pair<uint32_t, uint32_t> cpus, const std::vector<std::optional<Tier>> &forced,
			 ProbeSet probes = ~ProbeSet{0});
	std::vector<Seen> seen; // by forced tier
	std::array<pid_t, 2> pids{};
	std::array<int, 2> ends{}; // the sockets' descriptors, in these processes
	uint64_t begin_ns = 0, end_ns = 0;
};

// The records in a capture's slots; `heads` gets the slots' heads.
std::vector<icepath_record> copy_slots(const Capture &capture, std::vector<icepath_slot> &heads);

std::pair<uint32_t, uint32_t> two_cpus();

} // namespace icepath::capture
