// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a reader of a report must know about the machine.
#include <string>

#include "profiler/privilege/identity.h"

namespace icepath::run {

// A JSON object: hostname, kernel, kernel_version, preempt_rt, machine, cpu_model, cpus_online, memory_bytes,
// clocksource, hypervisor, mitigations, user, plain_root.
std::string describe_host(const privilege::Identity &user);

} // namespace icepath::run
