// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which CPU the sender runs on and which the receiver.
#include <string>
#include <string_view>
#include <vector>

#include "cpuset/topology.h"

namespace icepath::cpuset {

struct Choice {
	uint32_t sender = 0, receiver = 0;
	std::vector<uint32_t>
		more; // where there are several receivers, or senders: the second one's CPU, the third one's …
	CpuList housekeeping; // for icepath itself: the others that it may use, or all of its own where there are none
	std::string why;      // one sentence
};

// In the order of weight: CPUs that are isolated, of two cores, under one last-level cache, fast ones, not the CPU that
// starts the machine and takes what has no other place. Throws Failure(MachineCannot) where no CPU is allowed.
Choice choose_pair(const Machine &machine);

// What the user asked for as "SENDER,RECEIVER[,MORE…]". Throws Failure(Usage) where it isn't two CPUs or more that this
// process may use. The same CPU twice is allowed: sender and receiver then take turns, and `why` says so.
Choice given_cpus(const Machine &machine, std::string_view option);

// The sender's, the receiver's, then the others, in the order in which they are given out.
std::vector<uint32_t> measuring_cpus(const Choice &choice);

} // namespace icepath::cpuset
