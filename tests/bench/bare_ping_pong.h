// SPDX-License-Identifier: Apache-2.0
#pragma once
// The least that a round trip can be: no framework, no ring, nothing to be looked at between two trips.
#include <cstdint>
#include <vector>

#include "tests/bench/round_trips.h"

namespace icepath::bench {

// Where a bare cache-line ping-pong reads the clock.
enum class Stamps {
	None,       // once for kUntimedTrips trips: each value is their mean
	AroundTrip, // before and after each trip
	AsIcepath, // wherever the workers and shm-ring do: ten times a trip, six of them between the first and the last
};
inline constexpr uint32_t kUntimedTrips = 500;

enum class Carries {
	Number, // the line is the message: a number that both sides expect
	Message, // kPayloadBytes in a line of their own, copied in before and out after
};

// Both sides spin, as ICEPATH_WAIT_POLL does. Round trips in ns, after a tenth as many that aren't counted.
std::vector<double> cache_line_trips_ns(CpuPair cpus, uint32_t trips, Stamps stamps, Carries carries);

// send(2) and recv(2) of kPayloadBytes over a UNIX stream socket, both blocking; the clock is read around each trip.
std::vector<double> uds_trips_ns(CpuPair cpus, uint32_t trips);

} // namespace icepath::bench
