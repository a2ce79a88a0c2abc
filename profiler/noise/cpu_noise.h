// SPDX-License-Identifier: Apache-2.0
#pragma once
// How quiet CPUs are while nothing of a run is active.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profiler/capture/probes.h"
#include "profiler/model/run.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/privilege/slots_view.h"

namespace icepath::noise {

// The probes that name causes.
capture::ProbeSet needed_probes();

// The name of a task; one of an icepath with its process, and whether it belongs to this one.
std::string named_as_own_or_not(const std::string &name, uint32_t tid);

// A loaded capture whose needed_probes() are attached, with a slot for each of the CPUs.
struct Capture {
	privilege::Helper &helper;
	const privilege::SlotsView &slots;
};

// Spins on all CPUs at the same time, by a child process for each that is pinned to it; omits CPUs on which icepath may
// not run. Spins for `duration_ns` in all, in windows of a second. `capture`: nullptr: causes aren't named. `admit`
// gets the pidfd of each child before the child is pinned; empty: nothing is done. Ends early, after a window, once
// `is_interrupted` says so or a child has died. Throws HelperDied, Failure(MachineCannot).
std::vector<model::CpuNoise> measure(const std::vector<uint32_t> &cpus, uint64_t duration_ns, const Capture *capture,
									 const std::function<void(int pidfd)> &admit,
									 const std::function<bool()> &is_interrupted = {});

} // namespace icepath::noise
