// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `--isolate full` does beyond soft: it keeps the machine's own work off the run's CPUs.
#include <string>
#include <vector>

#include "cpuset/cpulist.h"
#include "cpuset/step.h"
#include "cpuset/topology.h"
#include "profiler/isolation/journalled_changes.h"

namespace icepath::isolation {

// The measured CPUs and the other hardware threads of their cores, which stay empty, if that leaves a CPU for the rest
// of the machine; otherwise the measured CPUs alone. Throws Failure(MachineCannot) if no CPU is left, or if one isn't
// online.
cpuset::CpuList cpus_to_isolate(const cpuset::Machine &machine, const cpuset::CpuList &measured);

// Finds out which interrupts can't be moved (Irq::fixed): the kernel manages them itself, or refuses it. It writes each
// one's own CPUs back, which changes nothing. Without root's rights, finds none.
void find_fixed(const Tree &tree, cpuset::Machine &machine);

// Goes through the steps in order. Each one is in the result, whatever its outcome. `kernel`: its release. Throws
// Failure(MachineCannot) if the journal can't be written.
std::vector<cpuset::Step> isolate(Changes &changes, const cpuset::Machine &machine, const cpuset::CpuList &cpus,
								  const std::string &kernel);

// Why this process may not change the machine: it is in a container. Empty: it may.
std::string why_not_the_machine();

} // namespace icepath::isolation
