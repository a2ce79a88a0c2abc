// SPDX-License-Identifier: Apache-2.0
#pragma once
// bpftrace and perf as a benchmark attaches them: started, known to be recording, ended.
#include <sys/types.h>

#include <array>
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
	// Whether it has begun to record: it may need events for that.
	virtual bool recording() const = 0;
};

// Events of two tasks.
std::unique_ptr<ExternalTracer> start_bpftrace(const std::string &script, const std::vector<uint32_t> &tids);
// Of what `target` says: {"-p", "12,13"} or {"-C", "1"}.
std::unique_ptr<ExternalTracer> start_perf_record(const std::vector<std::string> &target);

// Keeps this process, and the tracers that it starts, off a CPU where there is another one.
void stay_off(uint32_t cpu);

} // namespace icepath::bench
