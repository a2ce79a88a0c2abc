// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

namespace icepath::plugin_kit {

struct RingShape {
	uint32_t slots; // a power of two, at least 2
	uint64_t payload_bytes;
};

constexpr uint64_t to_cache_lines(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

// The requested number of slots (0: 16), rounded to a power of two and limited to what fits into `most_bytes`.
inline uint32_t slots_for(uint32_t asked, uint64_t slot_bytes, uint64_t most_bytes)
{
	constexpr uint32_t kDefault = 16, kMost = 1u << 20;
	const uint64_t fitting = std::bit_floor(std::max<uint64_t>(2, most_bytes / slot_bytes));
	const uint64_t wanted = std::max<uint64_t>(2, std::bit_ceil(asked ? std::min(asked, kMost) : kDefault));
	return static_cast<uint32_t>(std::min(wanted, fitting));
}

} // namespace icepath::plugin_kit
