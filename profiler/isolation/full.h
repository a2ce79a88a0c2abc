// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `--isolate full` does beyond soft: the machine is told to keep its own work off the run's CPUs.
#include <string>
#include <vector>

#include "cpuset/cpulist.h"
#include "cpuset/step.h"
#include "cpuset/topology.h"
#include "profiler/isolation/changes.h"

namespace icepath::isolation {

// The CPUs that a run measures on, and the other hardware threads of their cores, which stay empty, where that leaves one for the rest of
// the machine. Throws Failure(MachineCannot) where none is left, or one isn't online.
cpuset::CpuList cpus_to_isolate(const cpuset::Machine &machine, const cpuset::CpuList &measured);

// In the order in which one makes room for the next. Each is told, whatever became of it. `kernel`: its release. Throws
// Failure(MachineCannot) where the journal can't be written.
std::vector<cpuset::Step> isolate(Changes &changes, const cpuset::Machine &machine, const cpuset::CpuList &cpus,
								  const std::string &kernel);

// Why `full` isn't for where this process is, a container; empty: it is.
std::string why_not_the_machine();

} // namespace icepath::isolation
