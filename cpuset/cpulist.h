// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernel's notation for sets of CPUs: "0-3,5" (cpumap_print_to_pagebuf()).
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace icepath::cpuset {

using CpuList = std::vector<uint32_t>; // ascending, each once

// Records carry a CPU's number in 16 bits; the kernel's own limit is lower (NR_CPUS, 8192 on x86).
inline constexpr uint32_t kMaxCpu = 65535;

// Nothing if the text isn't such a list, or names a CPU above kMaxCpu. Blank text and "(null)", which the kernel prints
// for a mask that was never set, are the empty list.
std::optional<CpuList> parse_cpulist(std::string_view text);

// Decimal digits only, at most kMaxCpu.
std::optional<uint32_t> parse_cpu(std::string_view text);

std::string format_cpulist(const CpuList &cpus); // the empty list: ""

bool contains(const CpuList &cpus, uint32_t cpu);

} // namespace icepath::cpuset
