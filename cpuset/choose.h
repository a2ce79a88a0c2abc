// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chooses the CPUs of sender and receiver.
#include <string>
#include <string_view>
#include <vector>

#include "cpuset/topology.h"

namespace icepath::cpuset {

struct Choice {
	uint32_t sender = 0, receiver = 0;
	// CPUs of further receivers or senders, from the second on.
	std::vector<uint32_t> more;
	CpuList housekeeping; // for icepath itself: the other CPUs that it may use, or all of them if there are no others
	CpuList daemons; // for middleware's daemons; empty: they run where icepath does
	std::string why; // one sentence
};

// Prefers, in this order: isolated CPUs, two cores, one last-level cache, fast CPUs, and neither the boot CPU, which
// takes work that has no other place, nor its core. Throws Failure(MachineCannot) if no CPU is allowed.
Choice choose_pair(const Machine &machine);

// Parses "SENDER,RECEIVER[,MORE…]". Throws Failure(Usage) unless it names two or more CPUs that this process may use.
// The same CPU twice is allowed: sender and receiver then take turns, and `why` says so.
Choice given_cpus(const Machine &machine, std::string_view option);

// Parses "0-1,3", CPUs for daemons of middleware. Throws Failure(Usage) unless this process may use all of them.
CpuList given_daemon_cpus(const Machine &machine, const std::string &option);

// The sender's, the receiver's, then `more`, in the order of assignment.
std::vector<uint32_t> measuring_cpus(const Choice &choice);

} // namespace icepath::cpuset
