// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many messages a library's queue may hold, where it counts messages instead of bytes.
#include <algorithm>

#include "icepath/plugin.h"

namespace icepath::plugin_kit {

// The requested length, or else the library's own, limited to 8 MiB of messages (but at least 2).
inline int queue_length(const icepath_open &how, uint64_t otherwise)
{
	constexpr uint64_t kQueuedBytes = 8 * 1024 * 1024;
	const uint64_t fits = std::max<uint64_t>(kQueuedBytes / how.payload_bytes, 2);
	return static_cast<int>(std::min<uint64_t>(how.depth ? how.depth : otherwise, fits));
}

} // namespace icepath::plugin_kit
