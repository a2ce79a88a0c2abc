// SPDX-License-Identifier: Apache-2.0
#pragma once
// iox-roudi, which makes the shared memory and joins publishers and subscribers, as icepath has it run; and what its pools allow.
#include <algorithm>

#include "icepath/plugin.h"
#include <iceoryx_posh/iceoryx_posh_types.hpp>

namespace icepath::middleware {

constexpr const char *kRouDiConfig = "/tmp/icepath-roudi.toml";
// As many chunks of each size as fit the queues of both directions (queue_of), and some that are lent or held.
constexpr const char *kRouDiPools = R"([general]
version = 1

[[segment]]

[[segment.mempool]]
size = 128
count = 2048

[[segment.mempool]]
size = 4096
count = 2048

[[segment.mempool]]
size = 65536
count = 384

[[segment.mempool]]
size = 1048576
count = 64
)";
constexpr uint64_t kLargest = 1048576;
constexpr uint64_t kQueuedBytes = 8 * kLargest;
constexpr uint64_t kLongestQueue = iox::MAX_SUBSCRIBER_QUEUE_CAPACITY;

inline const char *const kRouDiArguments[] = {"-c", kRouDiConfig, "-l", "warning", nullptr};
inline const icepath_daemon kRouDi = {
	sizeof(icepath_daemon),      "iox-roudi", "iceoryx", kRouDiArguments, kRouDiConfig, kRouDiPools,
	"RouDi is ready for clients"};

inline uint64_t queue_of(const icepath_open &how)
{
	const uint64_t fits = std::clamp<uint64_t>(kQueuedBytes / how.payload_bytes, 8, kLongestQueue);
	return how.depth ? std::min<uint64_t>(how.depth, fits) : fits;
}

} // namespace icepath::middleware
