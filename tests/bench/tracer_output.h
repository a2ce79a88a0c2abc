// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many events other tracers say that they saw: evidence that they traced at all while their cost was measured.
// Pure.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace icepath::bench {

// Of bpftrace's histograms, "[512, 1K)   171224 |@@@@  |": the sum of the counts.
uint64_t events_in_histograms(std::string_view output);

// Of `printf` in a bpftrace script: the lines that begin with a digit.
uint64_t events_in_lines(std::string_view output);

// Of `perf trace -s`: the sum over its threads, "python3 (15786), 42659 events, 50.0%".
uint64_t events_in_summary(std::string_view output);

// Of per_cpu/cpuN/stats in tracefs: "entries: 12" and "overrun: 3", which were overwritten.
uint64_t events_in_ring_buffer(std::string_view stats);

// The tracepoints that other tracers are given: those that icepath's capture uses for the same messages, as far as
// tracefs has them.
//
// "sched_switch": of a blocking UNIX socket, without those that only BPF reaches (sched_exit_tp).
std::vector<std::string> captured_tracepoints();

// "sched:sched_switch": with their folders in tracefs. Throws Failure where one isn't there.
std::vector<std::string> captured_events();

} // namespace icepath::bench
