// SPDX-License-Identifier: Apache-2.0
#pragma once
// What plug-ins say that they can do.
#include <string>
#include <vector>

#include "profiler/targets/target.h"
#include "profiler/worker/protocol.h"

namespace icepath::run {

// Asks every plug-in for its targets, each in a worker of its own. A plug-in that fails is told in `notices`. Throws
// Failure(MachineCannot) where there is no plug-in at all.
std::vector<targets::Target> describe_targets(std::vector<std::string> &notices);
// The same of plug-ins that are no transports of a run.
std::vector<targets::Target> describe_plugins(const std::vector<std::string> &paths, std::vector<std::string> &notices);

// As a worker told it of the plug-in at that path. Nothing in the reply is believed.
targets::Target target_of(const std::string &plugin, const worker::TargetReply &told);

} // namespace icepath::run
