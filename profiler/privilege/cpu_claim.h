// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two runs on one CPU would measure each other.
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/channel.h"
#include "profiler/failure.h"

namespace icepath::privilege {

inline constexpr const char *kClaimFolder = "/run/icepath";

// As root, once for a machine's /run: makes the folder of the locks, in which only root and the group of its processes (rights.h) may
// write. Where it can't, CpuClaim says so.
void make_claim_folder(const std::string &folder = kClaimFolder);

// There is no folder for locks: two runs on one CPU wouldn't know of each other.
class NoClaims : public Failure {
public:
	using Failure::Failure;
};

// Holds CPUs against every other icepath that has the same /run, as long as it lives. Each CPU is a lock (flock(2)) on a file in a folder
// where no user may write, so that none can take a CPU from icepath or keep it. A lock goes with the process, whatever kills it; its
// file goes where nothing kills that, and else means nothing.
class CpuClaim {
public:
	// `holder` is the process that others are told of. Throws Failure(MachineCannot): a CPU is another's, whose process it names;
	// NoClaims: the folder can't be had, or not be trusted. Then nothing is held.
	CpuClaim(std::vector<uint32_t> cpus, pid_t holder, const std::string &folder = kClaimFolder);
	~CpuClaim();
	CpuClaim(const CpuClaim &) = delete;
	CpuClaim &operator=(const CpuClaim &) = delete;

	int folder() const { return folder_.get(); } // in which it removes its files at its end

private:
	void let_go();

	Fd folder_;
	std::vector<std::pair<std::string, Fd>> locks_; // by the file's name
};

} // namespace icepath::privilege
