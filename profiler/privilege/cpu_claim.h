// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two runs on one CPU would measure each other.
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/channel.h"
#include "profiler/failure.h"

namespace icepath::privilege {

// Claims aren't possible here: two runs on one CPU wouldn't know of each other.
class NoClaims : public Failure {
public:
	using Failure::Failure;
};

struct Claim {
	uint32_t map; // its id
	uint32_t cpu;
	pid_t holder;
};

// Of every icepath on this machine. Throws NoClaims.
std::vector<Claim> read_claims();

// Returns a claim of the CPU whose map was made before the map `own`, or nothing. `before`: the claims that existed
// before `own` was made. They are earlier however many maps the machine has made since.
std::optional<Claim> earlier_claim(const std::vector<Claim> &claims, uint32_t cpu, uint32_t own,
								   const std::vector<Claim> &before);

// Holds CPUs against every other icepath on this machine, for its lifetime. For each CPU it makes a BPF map whose name
// says the CPU and the holder, and looks at all such maps (ebpf/claims.bpf.c): the first that was made has the CPU. A
// claim
//  - is made and seen by whoever may measure, root or not, in any namespace: BPF maps belong to the kernel;
//  - can't be made by anybody else: maps of this type take CAP_BPF;
//  - needs no file, and ends with its process, whatever kills it.
class CpuClaim {
public:
	// Other runs report `holder`. Throws Failure(MachineCannot), which names the process that holds one of the CPUs, or
	// NoClaims. Then nothing is held.
	// `member`: a user who may hold kMostOfMember claims at a time, each of any CPUs. They are counted by maps of the
	// same kind, whose name says the user, so nobody can hide one. Throws Failure(MachineCannot) beyond that.
	CpuClaim(std::vector<uint32_t> cpus, pid_t holder, std::optional<uid_t> member = {});

	static constexpr size_t kMostOfMember = 4;

private:
	std::vector<Fd> maps_;
};

} // namespace icepath::privilege
