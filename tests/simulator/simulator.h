// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scenario played to its end: its true paths, and the walk's input.
#include "tests/simulator/model.h"
#include "tests/simulator/seen.h"
#include "tests/simulator/truth.h"

namespace icepath::simulator {

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
