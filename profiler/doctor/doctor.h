// SPDX-License-Identifier: Apache-2.0
#pragma once
// What icepath can do on this machine, found by trying. Leaves no changes: a tried probe is detached at once.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/capture/probes.h"

namespace icepath::doctor {

enum class Verdict : uint8_t { Ok, Warn, Fail };

// When a remedy can be had on this machine: by a command, by what it is booted with, or not without another kernel,
// machine or container.
enum class Possible : uint8_t { Now, AfterReboot, NotHere };
const char *name(Possible possible); // "now", "after a reboot", "not here"

struct Check {
	// Stable: "kernel", "btf", "privileges", "probe sched_switch", "layer runqueue", "cpus", "clock", …
	std::string name;
	Verdict verdict = Verdict::Ok;
	std::string found;
	std::string effect; // on the results; empty if Ok
	std::string remedy; // what to do about it; empty if Ok, or if nothing can be done
	Possible possible = Possible::Now; // the remedy
};

// `tier`: tries probes as a run with that --tier would.
std::vector<Check> examine(std::optional<capture::Tier> tier);

struct FitFor;
// Every check, with its effect and remedy.
std::string to_text(const std::vector<Check> &checks, const std::vector<FitFor> &fit_for, bool colour);
std::string to_json(const std::vector<Check> &checks, const std::vector<FitFor> &fit_for);

// Whether a run with a breakdown is possible: no check failed.
bool can_run(const std::vector<Check> &checks);

} // namespace icepath::doctor
