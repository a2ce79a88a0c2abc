// SPDX-License-Identifier: Apache-2.0
#pragma once
// The workers' replies, in memory that the fuzzer shares with them.
#include <array>
#include <cstdint>

#include "profiler/worker/protocol.h"

namespace icepath::fuzz {

inline constexpr const char *kRepliesVariable = "ICEPATH_FUZZ_REPLIES"; // the memory's descriptor
inline constexpr uint32_t kRoom = 20; // messages of a block

// The input's layout. Both sides get the same stamps.
struct Replies {
	uint8_t part = 0; // the part of icepath that reads them
	uint8_t fds = 0; // descriptors with the replies to Open and Connect, up to what a message holds
	std::array<worker::Reply, 2> of_side{};
	std::array<uint8_t, kRoom * (sizeof(model::SendStamp) + sizeof(model::RecvStamp))> stamps{};
};

} // namespace icepath::fuzz
