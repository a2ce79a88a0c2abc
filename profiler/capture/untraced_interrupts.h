// SPDX-License-Identifier: Apache-2.0
#pragma once
// Interrupts that no probe sees. Their time is in the layer that they interrupt.
#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/model/run.h"

namespace icepath::capture {

// Rows of /proc/interrupts (`table`) whose interrupts pass no tracepoint of kProbes, summed over `cpus`: those of a
// hypervisor's timer or callbacks, of thermal events, and IPIs other than x86's function-call vectors. Excludes rows
// that don't count interrupts by CPU (ERR, MIS, RTR, MCP).
std::vector<model::InterruptCount> untraced_interrupts(std::string_view table, const std::vector<uint32_t> &cpus);

// For this machine. Empty if /proc/interrupts can't be read.
std::vector<model::InterruptCount> untraced_interrupts(const std::vector<uint32_t> &cpus);
// All rows that count by CPU, of devices and traced ones too.
std::vector<model::InterruptCount> all_interrupts(const std::vector<uint32_t> &cpus);

// The increase between two readings, without rows that didn't change.
std::vector<model::InterruptCount> counted_since(const std::vector<model::InterruptCount> &before,
												 std::vector<model::InterruptCount> now);

} // namespace icepath::capture
