// SPDX-License-Identifier: Apache-2.0
#pragma once
// bpftrace, perf and trace-cmd as a benchmark attaches them: started, known to be recording, ended, and asked what they
// saw.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace icepath::bench {

// Gives this process a mount namespace of its own, with tracefs in it and a folder in memory for what tracers write, so
// that tracers find their events and the host's mounts stay as they are. Throws Failure.
void enter_tracing_namespace();

// A tracer that records from its construction on, or soon after. Throws Failure where it can't be started.
class ExternalTracer {
public:
	virtual ~ExternalTracer() = default;
	// Whether it has begun to record; to be asked again and again. Throws Failure where it ended.
	virtual bool recording() = 0;
	// Ends it. How many events it saw, at least.
	virtual uint64_t end() = 0;
};

struct Traced {
	std::vector<uint32_t> tids; // two
	uint32_t cpu = 0; // of both
};

struct TracerKind {
	std::string name;
	std::string records; // what it can tell afterwards
	std::vector<std::string> command; // with its options
	std::vector<std::string> version_command;
	std::function<std::unique_ptr<ExternalTracer>(const std::vector<std::string> &command, const Traced &traced)> start;
	std::optional<double> aim; // icepath is to add at most this share of what it adds
};

// `scripts`: the folder of tools/*.bt. Needs enter_tracing_namespace().
std::vector<TracerKind> tracer_kinds(const std::string &scripts, const Traced &traced);

// Keeps this process, and the tracers that it starts, off a CPU where there is another one.
void stay_off(uint32_t cpu);

} // namespace icepath::bench
