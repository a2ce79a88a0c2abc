// SPDX-License-Identifier: Apache-2.0
#pragma once
// Computes, from watched calls, the share of a call's time at which the kernel changes the queue. Pure.
//
// A watched call is longer than a bare one: the exception and, in a virtual machine, the hypervisor add time before and
// after the handler reads the clock. The cost of a hit before and after is measured on a word that a BPF program
// writes, and subtracted; but the interrupted call then finds its caches cold. So a block yields a bracket besides its
// best estimate. With d the time of a bare call, and u and v those of the watched call before and after the change,
//
//     1 - v/d  <=  share  <=  u/d,       best: u / (u + v)
//
// because an excess in v makes 1 - v/d too small, and an excess in u makes u/d too large.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace icepath::calibrate {

// Cost of all hits of a call, before and after the instant of the hit of interest.
struct HitCost {
	double before_ns = 0, after_ns = 0;
};

struct WatchedCall {
	uint64_t begin_ns = 0, end_ns = 0;
	std::vector<uint64_t> hits_ns;
};

// A block of watched calls, and the time of the same calls in the neighbouring block, without watchpoints.
struct WatchedBlock {
	double bare_ns = 0; // above 0
	HitCost cost;
	std::vector<WatchedCall> calls;
};

// Which hit of a call is of interest.
enum class Hit : uint8_t { First, Last };
constexpr size_t number_of(Hit hit, size_t hits) { return hit == Hit::First ? 0 : hits - 1; }

// The number of hits that at least half of the calls have; 0: there is none.
size_t usual_hits(std::span<const WatchedCall> calls);

struct Share {
	double value = 0, low = 0, high = 0; // 0 to 1, of a call's time, from its begin
};

// The medians over blocks of the estimate and of the bracket's ends, the latter widened by the 95 % interval of a
// median. Only calls with `hits` hits count; nothing if there are none. `hits` > 0.
std::optional<Share> place(std::span<const WatchedBlock> blocks, Hit hit, size_t hits);

} // namespace icepath::calibrate
