// SPDX-License-Identifier: Apache-2.0
#pragma once
// The benchmarks of the libraries' own authors, as rivals of icepath's cells: ping-pongs on the same CPUs, all threads
// of a side on that side's. Each call starts all programs of one, measures for seconds, ends them, and throws Failure
// where that can't be. They run in a space of their own, where they find nobody else.
#include <optional>
#include <string>
#include <string_view>

#include "profiler/run/middleware_space.h"
#include "tests/bench/rivals.h"

namespace icepath::bench {

struct Place {
	const run::MiddlewareSpace &space;
	CpuPair cpus;
};

// Of `ddsperf ping`, which tells half of the round trips, once a second: the last second's. Nothing where it measured
// nothing.
std::optional<RivalReport> parse_ddsperf(std::string_view output);

// Cyclone DDS's, from Debian: kPayloadBytes, reliable, the last message kept. Both sides take messages in a thread that
// sleeps in a waitset, or in listeners. `config`: of the library, in XML.
enum class DdsMode { Waitset, Listener };
RivalReport ddsperf(const Place &place, DdsMode mode, const std::string &config);

// Of `iceperf-bench-leader`, which tells half of the mean round trip for each size, by two digits: that of 1 KiB.
std::optional<RivalReport> parse_iceperf(std::string_view output);

// iceoryx's, which comes as source only: `folder` has iceperf-bench-leader and iceperf-bench-follower. Both sides poll.
// Messages of 1 KiB, of which they touch 12 bytes; a queue of one, which drops what it has no room for.
inline constexpr uint64_t kIceperfBytes = 1024;
RivalReport iceperf(const Place &place, const std::string &folder);

// Of `LatencyTest publisher`, which tells half of the round trips of each size: of kPayloadBytes.
std::optional<RivalReport> parse_latency_test(std::string_view output);

// Fast DDS's, which comes as source only: `program` is LatencyTest. Reliable, the last message kept. The subscriber
// answers in its listener; the publisher's listener stamps the answer, and wakes the thread that writes the next
// message.
enum class FastTransport { Udp, SharedMemory };
RivalReport latency_test(const Place &place, FastTransport transport, const std::string &program);

// Of `z_ping`, which tells each round trip in whole microseconds, rounded down: their median, and half of one. Nothing
// where one of them is missing.
std::optional<RivalReport> parse_z_ping(std::string_view output);

// Zenoh's, which comes as source only: `folder` has z_ping and z_pong. Two peers over TCP that look for no others.
// z_pong answers in its callback; z_ping sleeps for the answer in a channel, as the wait `block` does. `express`: their
// messages aren't batched, which is these programs' default and not the library's.
RivalReport z_ping(const Place &place, bool express, const std::string &folder);

} // namespace icepath::bench
