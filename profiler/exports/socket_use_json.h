// SPDX-License-Identifier: Apache-2.0
#pragma once
// run.json's part of a cell that comes from its sockets and the kernel's counts.
#include <nlohmann/json.hpp>

#include "profiler/analysis/socket_use.h"

namespace icepath::exports {

nlohmann::ordered_json socket_use_json(const analysis::SocketUse &sockets); // null without sockets

} // namespace icepath::exports
