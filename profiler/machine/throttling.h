// SPDX-License-Identifier: Apache-2.0
#pragma once
// How often the kernel throttled control groups that had used up their quota (cpu.max, cpu.cfs_quota_us).
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace icepath::machine {

// The cpu.stat files of a thread's control group and of its ancestors, in both hierarchies, as far as they are mounted
// here. `groups`: the content of /proc/…/cgroup of the thread, `mounts`: that of /proc/self/mountinfo.
std::vector<std::filesystem::path> throttling_files(std::string_view groups, std::string_view mounts);

// The same for several threads, each file once.
std::vector<std::filesystem::path> throttling_files(const std::vector<uint32_t> &tids);

// The sum of their `nr_throttled`; nothing if none of them has it.
std::optional<uint64_t> times_throttled(const std::vector<std::filesystem::path> &files);

} // namespace icepath::machine
