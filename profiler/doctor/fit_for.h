// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this machine is fit for, and what stands in the way of it.
#include <string>
#include <vector>

#include "profiler/doctor/doctor.h"
#include "profiler/model/fitness.h"

namespace icepath::doctor {

struct FitFor {
	model::Fitness fitness;
	std::string taken_by; // "cc1plus 31 %, python3 8 %"; empty: it is fit, or nobody looked for what took the CPU
	std::string remedy; // empty: it is fit, or none is known
	Possible possible = Possible::Now; // the remedy
};

// By a look at the CPUs. `named`: what a second one saw by name, with probes, which take time themselves; empty: there
// was none. `can_stop_tick`: this kernel can.
std::vector<FitFor> fit_for(const model::Quietness &look, const std::vector<model::CpuNoise> &named,
							bool can_stop_tick);

} // namespace icepath::doctor
