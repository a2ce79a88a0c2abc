// SPDX-License-Identifier: Apache-2.0
#pragma once
// How quiet the run's CPUs were: before the first block, and for its workers during probed blocks.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/path/interference.h"
#include "profiler/resolve/resolve.h"

namespace icepath::analysis {

// What kept workers from running while they could have run, by CPU: for all of the time of probed blocks, whether a
// message was on its way or not. A `gap` is one interrupt, or one time that a worker waited for its CPU. Waits for the
// other side of its cell don't count. Times are those of all workers of the CPU.
class WorkerGaps {
public:
	void add(const resolve::ResolvedBlock &resolved, const model::Cell &cell);
	std::vector<model::CpuNoise> take() const; // sources by time

private:
	struct OfCpu {
		model::CpuNoise noise;
		std::map<std::string, model::NoiseSource> sources;
		void add(const path::Interference &one, std::string name);
	};
	std::map<uint32_t, OfCpu> by_cpu_;
};

} // namespace icepath::analysis
