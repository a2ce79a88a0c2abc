// SPDX-License-Identifier: Apache-2.0
#pragma once
// bpftrace and perf as a benchmark attaches them: started, known to be recording, ended.
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/channel.h"

namespace icepath::bench {

// Gives this process a mount namespace of its own with tracefs in it, so that tracers find their events and the host's
// mounts stay as they are. Throws Failure.
void enter_tracing_namespace();

// A tracer that records from its construction to its destruction. Throws Failure where it can't be started.
class ExternalTracer {
public:
	virtual ~ExternalTracer() = default;
};

std::unique_ptr<ExternalTracer> start_bpftrace(const std::string &script, uint32_t cpu);
std::unique_ptr<ExternalTracer> start_perf_record(uint32_t cpu);

} // namespace icepath::bench
