// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many events other tracers say that they saw: evidence that they traced at all while their cost was measured. Pure.
#include <cstdint>
#include <string_view>

namespace icepath::bench {

// Of bpftrace's histograms, "[512, 1K)   171224 |@@@@  |": the sum of the counts.
uint64_t events_in_histograms(std::string_view output);

// Of `printf` in a bpftrace script: the lines that begin with a digit.
uint64_t events_in_lines(std::string_view output);

// Of `perf trace -s`: the sum over its threads, "python3 (15786), 42659 events, 50.0%".
uint64_t events_in_summary(std::string_view output);

// Of per_cpu/cpuN/stats in tracefs: "entries: 12" and "overrun: 3", which were overwritten.
uint64_t events_in_ring_buffer(std::string_view stats);

} // namespace icepath::bench
