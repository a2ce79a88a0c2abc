// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tracepoints that other tracers are given: those that icepath's capture uses for the same messages, as far as tracefs
// has them.
#include <string>
#include <vector>

namespace icepath::bench {

// "sched_switch": of a blocking UNIX socket, without those that only BPF reaches (sched_exit_tp).
std::vector<std::string> captured_tracepoints();

// "sched:sched_switch": with their folders in tracefs. Throws Failure where one isn't there.
std::vector<std::string> captured_events();

} // namespace icepath::bench
