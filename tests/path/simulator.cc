// SPDX-License-Identifier: Apache-2.0
#include "tests/path/simulator.h"

#include "profiler/path/decode.h"

namespace icepath::simulator {

path::Observations Simulation::observe(const Damage &damage)
{
	const std::vector<Edge> &edges = model_.scenario.edges;
	if (edges.size() > 1 || edges[0] == Edge::Wake)
		return chain_of(model_, damage);
	return path::decode(block(damage), cell());
}

} // namespace icepath::simulator
