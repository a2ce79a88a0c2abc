// SPDX-License-Identifier: Apache-2.0
#pragma once
// What capture and stamps would show of a simulated block, whole or damaged.
#include "profiler/model/block.h"
#include "profiler/model/cell.h"
#include "profiler/path/observations.h"
#include "tests/simulator/model.h"
#include "tests/simulator/truth.h"

namespace icepath::simulator {

// What is removed from the capture.
struct Damage {
	double lose = 0; // share of records
	double skip = 0; // share of records whose program is_of_an_instant()
	bool tail = false; // a log was full
	bool shuffle = false, delay = false;
};

// Draws from the model's random numbers if `damage` requires it.
model::Block block_of(Model &model, const Damage &damage);
// The walk's input for a chain of relays, which no cell's block can hold.
path::Observations chain_of(Model &model, const Damage &damage);
model::Cell cell_of(const Scenario &scenario);

// A scenario played to its end: its true paths, and the walk's input.
class Simulation {
public:
	explicit Simulation(const Scenario &scenario) : model_(scenario) {}
	void run() { model_.run(); }
	// A scenario without relays goes through a block and the decoder.
	path::Observations observe(const Damage &damage);
	model::Block block(const Damage &damage) { return block_of(model_, damage); }
	model::Cell cell() const { return cell_of(model_.scenario); }
	std::vector<Truth> truths() const { return truths_of(model_); }

private:
	Model model_;
};

} // namespace icepath::simulator
