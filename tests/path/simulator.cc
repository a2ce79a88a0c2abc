// SPDX-License-Identifier: Apache-2.0
#include "tests/path/simulator.h"

#include "profiler/path/decode.h"

namespace icepath::simulator {

path::Observations Simulation::observe(const Damage &damage)
{
	if (!model_.scenario.alone() && !model_.scenario.library)
		return chain_of(model_, damage);
	return path::decode(block(damage), cell());
}

} // namespace icepath::simulator
