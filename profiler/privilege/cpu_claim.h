// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two runs on one CPU would measure each other.
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/channel.h"

namespace icepath::privilege {

inline constexpr const char *kClaimFolder = "/run/icepath";

// Holds CPUs against every other icepath that has the same /run, as long as it lives. Each CPU is a lock (flock(2)) on a file in a folder
// that root alone may write, so that no user can take a CPU from icepath or keep it. A lock goes with the process, whatever kills it; its
// file goes where nothing kills that, and else means nothing.
class CpuClaim {
public:
	// `holder` is the process that others are told of. Throws Failure(MachineCannot): a CPU is another's, whose process it names, or the
	// folder can't be trusted. Then nothing is held.
	CpuClaim(std::vector<uint32_t> cpus, pid_t holder, const std::string &folder = kClaimFolder);
	~CpuClaim();
	CpuClaim(const CpuClaim &) = delete;
	CpuClaim &operator=(const CpuClaim &) = delete;

private:
	void let_go();

	Fd folder_;
	std::vector<std::pair<std::string, Fd>> locks_; // by the file's name
};

} // namespace icepath::privilege
