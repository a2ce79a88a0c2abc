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

// As root, once for a machine's /run: makes the folder of locks, in which only root and the group of icepath's
// processes (rights.h) may write. CpuClaim reports a failure.
void make_claim_folder(const std::string &folder = kClaimFolder);

// There is no folder for locks: two runs on one CPU wouldn't know of each other.
class NoClaims : public Failure {
public:
	using Failure::Failure;
};

// Holds CPUs against every other icepath with the same /run, for its lifetime. Each CPU is a lock (flock(2)) on a file
// in a folder where no user may write, so that no user can take or keep a CPU. A lock ends with its process, whatever
// kills it. The file is removed unless the process is killed, and means nothing without its lock.
class CpuClaim {
public:
	// Other runs report `holder`. Throws Failure(MachineCannot), which names the process that holds one of the CPUs, or
	// NoClaims: the folder is missing or untrusted. Then nothing is held.
	CpuClaim(std::vector<uint32_t> cpus, pid_t holder, const std::string &folder = kClaimFolder);
	~CpuClaim();
	CpuClaim(const CpuClaim &) = delete;
	CpuClaim &operator=(const CpuClaim &) = delete;

	int folder() const { return folder_.get(); } // the destructor removes files in it

private:
	void let_go();

	Fd folder_;
	std::vector<std::pair<std::string, Fd>> locks_; // by file name
};

} // namespace icepath::privilege
