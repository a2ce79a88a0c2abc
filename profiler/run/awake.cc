// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/awake.h"

#include <algorithm>

#include "profiler/machine/wakes.h"

namespace icepath::run {

Awake::Awake(cpuset::KeptAwake *kept, const model::Cell &cell, Notices &notices)
	: kept_(cell.idle_states == model::IdleStates::Held ? kept : nullptr), notices_(notices)
{
	if (kept_)
		report(kept_->hold(), "CPUs aren't kept awake any more, so cells reported as held mix blocks of both kinds");
}

Awake::~Awake()
{
	if (kept_)
		report(kept_->let_go(), "CPUs stay awake until icepath ends, also in blocks of sparse cells");
}

void Awake::report(const cpuset::Problem &problem, const char *effect)
{
	if (problem)
		notices_.add(*problem + ": " + effect);
}

std::vector<model::CpuWake> wakes_held(cpuset::KeptAwake *kept, const std::vector<model::Cell> &cells,
									   const std::vector<uint32_t> &cpus, Notices &notices,
									   const std::function<void(int pidfd)> &admit)
{
	const auto held = std::ranges::find(cells, model::IdleStates::Held, &model::Cell::idle_states);
	if (!kept || held == cells.end())
		return {};
	const Awake awake(kept, *held, notices);
	return machine::measure_wakes(cpus, admit);
}

} // namespace icepath::run
