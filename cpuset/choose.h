// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which CPU the sender runs on and which the receiver.
#include <string>
#include <string_view>

#include "cpuset/topology.h"

namespace icepath::cpuset {

struct Choice {
	uint32_t sender = 0, receiver = 0;
	CpuList housekeeping; // for icepath itself: the others that it may use, or all of its own where there are none
	std::string why;      // one sentence
};

// In the order of weight: CPUs that are isolated, of two cores, under one last-level cache, fast ones, not the CPU that
// starts the machine and takes what has no other place. Throws Failure(MachineCannot) where no CPU is allowed.
Choice choose_pair(const Machine &machine);

// What the user asked for as "SENDER,RECEIVER". Throws Failure(Usage) where it isn't two CPUs that this process may use.
// The same CPU twice is allowed: sender and receiver then take turns, and `why` says so.
Choice given_pair(const Machine &machine, std::string_view option);

} // namespace icepath::cpuset
