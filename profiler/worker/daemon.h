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

std::string name_of(const icepath_daemon &daemon); // of its program, without a path
// "isn't installed: Debian's package iceoryx brings it"; empty: it is.
std::string why_not_there(const icepath_daemon &daemon);
// What tells it from others: two plug-ins that say the same of their daemon share one. Its program, and a hash of its arguments and its file.
std::string identity_of(const icepath_daemon &daemon);

} // namespace icepath::worker
