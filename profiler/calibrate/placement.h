// SPDX-License-Identifier: Apache-2.0
#pragma once
// From watched calls to the share of a call's time at which the kernel changes the queue. Pure.
//
// A watched call is longer than a bare one: the exception and, in a virtual machine, the hypervisor come before the handler's
// instant and after it. What a hit costs before and after is measured on a word that a BPF program writes, and taken away; but
// a call that was interrupted so finds its caches cold. So a block tells a bracket beside its best estimate: with d the time
// of a bare call, u what is left of the watched one before the change and v after it,
//
//     1 - v/d  <=  share  <=  u/d,       best: u / (u + v)
//
// for what is too long on one side makes the share too small, and on the other too large.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace icepath::calibrate {

// Of all the hits of a call: before and after the instant of the one that is meant.
struct HitCost {
	double before_ns = 0, after_ns = 0;
};

struct WatchedCall {
	uint64_t begin_ns = 0, end_ns = 0;
	std::vector<uint64_t> hits_ns;
};

// A block of watched calls, and what the same calls take in the block beside it, where nothing is watched.
struct WatchedBlock {
	double bare_ns = 0; // above 0
	HitCost cost;
	std::vector<WatchedCall> calls;
};

// Which hit of a call is meant.
enum class Hit : uint8_t { First, Last };
constexpr size_t number_of(Hit hit, size_t hits) { return hit == Hit::First ? 0 : hits - 1; }

// How many hits most of the calls have; 0 where no number has half of them.
size_t usual_hits(std::span<const WatchedCall> calls);

struct Share {
	double value = 0, low = 0, high = 0; // 0 to 1; of a call's time, from its begin
};

// The medians over blocks of the estimate and of the bracket's ends, the latter with the 95 % interval of a median. Only calls
// with `hits` hits count; nothing where there are none. `hits` > 0.
std::optional<Share> place(std::span<const WatchedBlock> blocks, Hit hit, size_t hits);

} // namespace icepath::calibrate
