// SPDX-License-Identifier: Apache-2.0
#pragma once
// What keeps others off a run's CPUs, tried here, and what would on this machine.
#include <vector>

#include "cpuset/isolation.h"
#include "cpuset/topology.h"
#include "profiler/doctor/doctor.h"
#include "profiler/privilege/cpu_claim.h"

namespace icepath::doctor {

// Of a step of soft isolation.
Check soft_check(const cpuset::Step &step);

// What `--isolate full` would do, on the chosen CPUs, or on one of them if the machine has only these: "full
// partition", …, or only "full" if it isn't possible here.
std::vector<Check> full_checks(const cpuset::Machine &machine, const cpuset::Choice &choice);

// Of one of its steps. `fixed_stay`: interrupts that can't be moved come often to these CPUs.
Check full_check(const cpuset::Step &step, bool fixed_stay);

// Of the CPUs that every other icepath has claimed.
Check other_runs_check(const std::vector<privilege::Claim> &claims);

// Its remedy is `--isolate full` where that is possible here, as `full` says, and mends it.
Check isolation_check(const cpuset::IsolationItem &item, const cpuset::Machine &machine,
					  const std::vector<Check> &full);

} // namespace icepath::doctor
