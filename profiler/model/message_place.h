// SPDX-License-Identifier: Apache-2.0
#pragma once
// A message's place in its block, and its encoding as one number.
#include <cstddef>
#include <cstdint>

namespace icepath::model {

struct MessagePlace {
	size_t flow = 0; // index into Graph::flows
	uint64_t seq = 0; // below kMostSeq
};

inline constexpr unsigned kSeqBits = 48;
inline constexpr uint64_t kMostSeq = 1ull << kSeqBits;

constexpr uint64_t message_at(const MessagePlace &place) { return (uint64_t{place.flow} << kSeqBits) | place.seq; }
constexpr MessagePlace place_of(uint64_t message) { return {message >> kSeqBits, message & (kMostSeq - 1)}; }

} // namespace icepath::model
