// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the kernel has counted in this process's network namespace, from its files below /proc/self/net.
#include <string>
#include <string_view>

#include "profiler/model/sockets.h"

namespace icepath::worker {

// Since the namespace began. What can't be read is kNotCounted. Takes some 100 µs.
model::KernelCounts kernel_counts(const std::string &folder = "/proc/self/net");

// Of the texts of these files; kNotCounted where a number isn't there.
//
// Of snmp and netstat: in a pair of lines "Udp: NAME…" and "Udp: NUMBER…".
uint64_t count_in_pairs(std::string_view text, std::string_view line, std::string_view name);
// Of snmp6: in a line "NAME NUMBER".
uint64_t count_in_lines(std::string_view text, std::string_view name);
// Of dev: received and sent packets that the device dropped.
uint64_t dropped_by_device(std::string_view text, std::string_view device);
// Of softnet_stat: the second number of each CPU's line, in hexadecimal.
uint64_t dropped_at_backlogs(std::string_view text);

} // namespace icepath::worker
