// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two runs on one CPU would measure each other.
#include <cstdint>
#include <vector>

#include "profiler/channel.h"

namespace icepath::run {

// Holds CPUs against every other icepath on this machine, as long as it lives. Each CPU is a name in the abstract namespace
// of UNIX sockets (unix(7)): whoever has bound it has the CPU, and it goes with the process, whatever kills it. That
// namespace is the network namespace's, so an icepath in a container with one of its own isn't seen.
class CpuClaim {
public:
	// Throws Failure(MachineCannot) that names the CPU and the process that has it.
	explicit CpuClaim(std::vector<uint32_t> cpus);

private:
	std::vector<Fd> names_;
};

} // namespace icepath::run
