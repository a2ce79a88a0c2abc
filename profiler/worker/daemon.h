// SPDX-License-Identifier: Apache-2.0
#pragma once
// Turns a worker process into its plug-in's daemon, so that icepath handles the daemon like any worker.
#include <string>

#include "icepath/plugin.h"
#include "profiler/channel.h"

namespace icepath::worker {

// Writes the daemon's file and executes the daemon in this process, with stdout and stderr going to `output`. Returns
// only on failure, with the reason.
std::string become(const icepath_daemon &daemon, const Fd &output);

std::string name_of(const icepath_daemon &daemon); // its program's, without a path
// "isn't installed: Debian's package iceoryx brings it"; empty: it is installed.
std::string why_not_there(const icepath_daemon &daemon);
// The daemon's program, and a hash of its arguments and its file. Plug-ins with the same identity share one daemon.
std::string identity_of(const icepath_daemon &daemon);

} // namespace icepath::worker
