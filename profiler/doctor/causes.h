// SPDX-License-Identifier: Apache-2.0
#pragma once
// The doctor's findings by what causes them: many probes fail for one reason, and one remedy mends all of them.
#include <string>
#include <vector>

#include "profiler/doctor/doctor.h"

namespace icepath::doctor {

struct Remedy {
	std::string text;
	Possible possible = Possible::Now;
};

struct Cause {
	std::string name; // "rights", "probes", "shared CPUs", …
	Verdict verdict = Verdict::Warn; // the worst of its checks
	std::vector<std::string> found; // by check; probes that don't work by their names
	std::vector<Remedy> remedies; // of the first check that has one, and before it those that can be had sooner
};

// Those of the checks that aren't Ok, in the order of the table of causes. What only follows from another check (a
// layer from its probes, a probe from missing rights) is left out.
std::vector<Cause> causes(const std::vector<Check> &checks);

} // namespace icepath::doctor
