// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a reader of a report must know of the machine.
#include <string>

#include "profiler/privilege/identity.h"

namespace icepath::run {

// A JSON object: kernel, cpu_model, cpus_online, memory_bytes, clocksource, mitigations, virtual, hostname, user.
std::string describe_host(const privilege::Identity &user);

} // namespace icepath::run
