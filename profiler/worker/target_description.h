// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "profiler/worker/plugin_loader.h"
#include "profiler/worker/protocol.h"

namespace icepath::worker {

// What icepath is told of a target of a plug-in, and of the daemon that it needs. `told` is empty before.
void describe_target(const Plugin &plugin, const icepath_target &target, TargetReply &reply);

} // namespace icepath::worker
