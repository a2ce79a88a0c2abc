// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "profiler/worker/plugin_loader.h"
#include "profiler/worker/protocol.h"

namespace icepath::worker {

// Fills `reply`, which must be zeroed, with the description of a target and of the daemon that its plug-in needs.
void describe_target(const Plugin &plugin, const icepath_target &target, TargetReply &reply);

} // namespace icepath::worker
