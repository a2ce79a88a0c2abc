// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the capture and the stamps would have told of a simulated block, whole or damaged.
#include "profiler/path/observations.h"
#include "profiler/rundir/block.h"
#include "profiler/rundir/run.h"
#include "tests/path/model.h"

namespace icepath::simulator {

// What is taken away from what the capture would have seen.
struct Damage {
	double lose = 0; // share of records
	double skip = 0; // share of those whose program tells of an instant
	bool tail = false; // a log was full
	bool shuffle = false, delay = false;
};

// Draws from the model's random numbers where `damage` says so.
rundir::Block block_of(Model &model, const Damage &damage);
// What the walk may see of a chain of relays, which no block of a cell can hold.
path::Observations chain_of(Model &model, const Damage &damage);
rundir::Cell cell_of(const Scenario &scenario);

} // namespace icepath::simulator
