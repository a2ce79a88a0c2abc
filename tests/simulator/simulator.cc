// SPDX-License-Identifier: Apache-2.0
#include "tests/simulator/simulator.h"

#include "profiler/decode/decode.h"

namespace icepath::simulator {

path::Observations Simulation::observe(const Damage &damage)
{
	if (!model_.scenario.alone() && !model_.scenario.library)
		return chain_of(model_, damage);
	return decode::observations_of(block(damage), cell());
}

} // namespace icepath::simulator
