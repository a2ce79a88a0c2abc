// SPDX-License-Identifier: Apache-2.0
#pragma once
// How often the kernel kept control groups from running because they had used up their time (cpu.max, cpu.cfs_quota_us).
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace icepath::run {

// The cpu.stat files of a thread's control group and of those above it, of either hierarchy, as far as they are mounted here.
// `groups` is /proc/…/cgroup of the thread, `mounts` /proc/self/mountinfo.
std::vector<std::filesystem::path> throttling_files(std::string_view groups, std::string_view mounts);

// Of all threads, each file once.
std::vector<std::filesystem::path> throttling_files(const std::vector<uint32_t> &tids);

// The sum of their `nr_throttled`; nothing where none of them has one.
std::optional<uint64_t> times_throttled(const std::vector<std::filesystem::path> &files);

} // namespace icepath::run
