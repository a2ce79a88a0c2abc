// SPDX-License-Identifier: Apache-2.0
#pragma once
// --gate and --expect, which run, report and export have in common.
#include <string>
#include <vector>

#include "profiler/gate/gate_file.h"

namespace icepath::cli {

struct GateOptions {
	std::vector<std::string> files;
	std::vector<std::string> expectations; // of all cells
};

// Throws Failure(Usage) if an expectation can't be read. Opens no file.
void check_expectations(const GateOptions &options);

// Reads the files, with the rights of whoever calls it. Throws Failure(Usage). Empty if none was asked for.
std::vector<gate::Gate> gates_of(const GateOptions &options);

} // namespace icepath::cli
