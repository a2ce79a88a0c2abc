// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an arm of a run is made of: folders and a file of the user's, and what its workers find in their environment.
// All of it is looked up as the user, after icepath has given root up.
#include <string>
#include <vector>

#include "profiler/model/arm.h"
#include "profiler/plan/plan.h"
#include "profiler/run/worker_process.h"

namespace icepath::run {

// The arm with its paths resolved. Throws Failure(Usage) if one isn't there or can't be used, also where middleware
// runs, and for root if others can change what is in it.
model::Arm found(model::Arm arm);

// For its workers and daemons: search paths, the variables that name a configuration, and the arm's own.
Environment environment_of(const model::Arm &arm);

// Folders that must be visible where /tmp and /dev/shm are empty, also those that links within the arm's lead to, and
// those of paths in its variables.
std::vector<std::string> folders_of(const model::Arm &arm);

// Throws Failure(Usage) if a cell is of an adapter that doesn't read its arm's configuration: it would be measured
// without it.
void check_configs(const std::vector<model::Arm> &arms, const plan::Plan &plan);

} // namespace icepath::run
