// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/gate_options.h"

#include <algorithm>
#include <iterator>

namespace icepath::cli {
namespace {

constexpr const char *kExpect = "--expect";

} // namespace

void check_expectations(const GateOptions &options) { gate::gate_of_all(options.expectations, kExpect); }

std::vector<gate::Gate> gates_of(const GateOptions &options)
{
	std::vector<gate::Gate> gates;
	for (const std::string &file : options.files)
		std::ranges::move(gate::read_gates(file), std::back_inserter(gates));
	if (!options.expectations.empty())
		gates.push_back(gate::gate_of_all(options.expectations, kExpect));
	return gates;
}

} // namespace icepath::cli
