// SPDX-License-Identifier: Apache-2.0
#pragma once
// The least that a round trip can be: no framework, no ring, nothing to be looked at between two trips.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "profiler/failure.h"
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

// Two processes, each pinned to its CPU as icepath's workers are, for ping-pongs that are nothing else.
//
// Runs both sides at once; `initiate` fills in as many values as there is room for, which are returned. What the sides
// share must have been made before. Throws Failure where a side fails or takes too long.
std::vector<double> run_two_sides(CpuPair cpus, size_t room, const std::function<void(double *values)> &initiate,
								  const std::function<void()> &respond);

// Zeros that processes forked later share, every page present.
class SharedMemory {
public:
	explicit SharedMemory(size_t bytes)
		: bytes_(bytes),
		  data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0))
	{
		if (data_ == MAP_FAILED)
			throw Failure(ExitCode::MachineCannot, "no memory to share between the sides of a ping-pong");
	}
	~SharedMemory() { munmap(data_, bytes_); }
	SharedMemory(const SharedMemory &) = delete;
	SharedMemory &operator=(const SharedMemory &) = delete;
	void *data() const { return data_; }

private:
	size_t bytes_;
	void *data_;
};

} // namespace icepath::bench
