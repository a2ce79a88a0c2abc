// SPDX-License-Identifier: Apache-2.0
#pragma once
// Other tools' ping-pongs of kPayloadBytes that sleep in the receiving call, on the same CPUs as icepath's. Each call
// starts both sides, measures for about a second, ends both, and throws Failure where that can't be.
#include "tests/bench/rival_output.h"
#include "tests/bench/round_trips.h"

namespace icepath::bench {

// Debian 12's sockperf (3.7) has no UNIX sockets. TCP_NODELAY is its default.
RivalReport sockperf_over_tcp(CpuPair cpus);
RivalReport sockperf_over_udp(CpuPair cpus);

RivalReport fio_over_uds(CpuPair cpus);

} // namespace icepath::bench
