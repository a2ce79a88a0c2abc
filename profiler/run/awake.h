// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps CPUs awake during a block.
#include <cstdint>
#include <functional>
#include <vector>

#include "cpuset/kept_awake.h"
#include "profiler/model/cell.h"
#include "profiler/model/run.h"
#include "profiler/run/run_record.h"

namespace icepath::run {

// Keeps them awake for its lifetime, if the cell's idle states are Held. A failure becomes a notice.
class Awake {
public:
	// `kept`: nullptr where icepath keeps no CPU awake.
	Awake(cpuset::KeptAwake *kept, const model::Cell &cell, Notices &notices);
	~Awake();
	Awake(const Awake &) = delete;
	Awake &operator=(const Awake &) = delete;

private:
	void report(const cpuset::Problem &problem, const char *effect);
	cpuset::KeptAwake *const kept_;
	Notices &notices_;
};

// Wakeup delays of sleeping threads while CPUs are kept awake. Empty if no cell's idle states are Held. `admit`: of
// machine::measure_wakes().
std::vector<model::CpuWake> wakes_held(cpuset::KeptAwake *kept, const std::vector<model::Cell> &cells,
									   const std::vector<uint32_t> &cpus, Notices &notices,
									   const std::function<void(int pidfd)> &admit = {});

} // namespace icepath::run
