// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the capture and the stamps would have told of a simulated block, whole or damaged.
#include "profiler/model/block.h"
#include "profiler/model/cell.h"
#include "profiler/path/observations.h"
#include "tests/simulator/model.h"

namespace icepath::simulator {

// What is taken away from what the capture would have seen.
struct Damage {
	double lose = 0; // share of records
	double skip = 0; // share of those whose program tells of an instant
	bool tail = false; // a log was full
	bool shuffle = false, delay = false;
};

// Draws from the model's random numbers where `damage` says so.
model::Block block_of(Model &model, const Damage &damage);
// What the walk may see of a chain of relays, which no block of a cell can hold.
path::Observations chain_of(Model &model, const Damage &damage);
model::Cell cell_of(const Scenario &scenario);

} // namespace icepath::simulator
