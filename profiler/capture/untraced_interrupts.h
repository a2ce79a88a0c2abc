// SPDX-License-Identifier: Apache-2.0
#pragma once
// Interrupts that no probe tells: what they took stands in the layer that they interrupted.
#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/model/machine.h"

namespace icepath::capture {

// Of /proc/interrupts (`table`), each row whose interrupts pass none of kProbes' tracepoints, with its count over `cpus`: those of a
// hypervisor's own timer or callbacks, of thermal events, of IPIs where they are no function calls by x86's vectors. Rows that
// count no interrupts by CPU (ERR, MIS, RTR, MCP) aren't among them.
std::vector<model::InterruptCount> untraced_interrupts(std::string_view table, const std::vector<uint32_t> &cpus);

// Of this machine's. Empty where /proc/interrupts can't be read.
std::vector<model::InterruptCount> untraced_interrupts(const std::vector<uint32_t> &cpus);

// What came between two readings; rows to which nothing came are left out.
std::vector<model::InterruptCount> counted_since(const std::vector<model::InterruptCount> &before,
												 std::vector<model::InterruptCount> now);

} // namespace icepath::capture
