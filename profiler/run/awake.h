// SPDX-License-Identifier: Apache-2.0
#pragma once
// CPUs that are kept awake for a block.
#include <cstdint>
#include <vector>

#include "cpuset/kept_awake.h"
#include "profiler/model/cell.h"
#include "profiler/model/machine.h"
#include "profiler/run/notices.h"

namespace icepath::run {

// While it lives, if blocks of the cell are measured so and icepath is who does it. What can't be done is told once a run.
class Awake {
public:
	// `kept`: nullptr where somebody else keeps them awake, or nobody does.
	Awake(cpuset::KeptAwake *kept, const model::Cell &cell, Notices &notices);
	~Awake();
	Awake(const Awake &) = delete;
	Awake &operator=(const Awake &) = delete;

private:
	void tell(const cpuset::Problem &problem, const char *effect);
	cpuset::KeptAwake *const kept_;
	Notices &notices_;
};

// How late sleeping threads run meanwhile. Empty where no cell is measured so.
std::vector<model::CpuWake> wakes_held(cpuset::KeptAwake *kept, const std::vector<model::Cell> &cells,
									   const std::vector<uint32_t> &cpus, Notices &notices);

} // namespace icepath::run
