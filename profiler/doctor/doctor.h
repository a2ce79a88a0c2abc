// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this machine can do for icepath, found by trying. Changes nothing; a probe that is tried is taken away at once.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/capture/probes.h"

namespace icepath::doctor {

enum class Verdict : uint8_t { Ok, Warn, Fail };

struct Check {
	std::string
		name;    // stable: "kernel", "btf", "privileges", "probe sched_switch", "layer runqueue", "cpus", "clock", …
	Verdict verdict = Verdict::Ok;
	std::string found;
	std::string effect;  // on the results; empty where Ok
	std::string remedy;  // what to do about it; empty where Ok, or where nothing can be done
};

// With a tier, probes are tried as a run with that --tier would take them.
std::vector<Check> examine(std::optional<capture::Tier> tier = {});

std::string to_text(const std::vector<Check> &checks, bool colour);
std::string to_json(const std::vector<Check> &checks);

// True where a run with its breakdown is possible.
bool can_run(const std::vector<Check> &checks);

} // namespace icepath::doctor
