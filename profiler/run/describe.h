// SPDX-License-Identifier: Apache-2.0
#pragma once
// What plug-ins report of their targets.
#include <string>
#include <vector>

#include "profiler/model/arm.h"
#include "profiler/run/worker_process.h"
#include "profiler/targets/target.h"
#include "profiler/worker/protocol.h"

namespace icepath::run {

// Asks every plug-in for its targets, each in a worker of its own. A plug-in that fails adds to `notices`. Throws
// Failure(MachineCannot) if there is no plug-in at all.
std::vector<targets::Target> describe_targets(std::vector<std::string> &notices);
// The same for what an arm loads. Throws Failure(Usage) if its folder has no plug-in.
std::vector<targets::Target> describe_targets(const model::Arm &arm, std::vector<std::string> &notices);
// The same for the plug-ins at `paths`; there may be none.
std::vector<targets::Target> describe_plugins(const std::vector<std::string> &paths, std::vector<std::string> &notices,
											  const Environment &environment = {});

// Converts a worker's description of the plug-in at that path. Trusts nothing in the reply.
targets::Target target_of(const std::string &plugin, const worker::TargetReply &reply);

} // namespace icepath::run
