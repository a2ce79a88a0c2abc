// SPDX-License-Identifier: Apache-2.0
#pragma once
// A worker that becomes its plug-in's daemon: icepath then has the daemon's process as it has any worker's.
#include <string>

#include "icepath/plugin.h"
#include "profiler/channel.h"

namespace icepath::worker {

// Writes the daemon's file and replaces this process's program by it, stdout and stderr going to `output`. Comes back only with
// why it can't: a sentence.
std::string become(const icepath_daemon &daemon, const Fd &output);

} // namespace icepath::worker
