// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's iox-roudi: one for all plug-ins that need it, because two can't share a /tmp.
#include "icepath/plugin.h"

namespace icepath::plugin_kit {

inline constexpr uint64_t kLargestChunk = 1048576;
inline constexpr const char *kRouDiConfig = "/tmp/icepath-roudi.toml";
// Enough chunks of each size for the queues of both directions, and for some that are lent or held; each has room for a
// header that records its users.
inline constexpr const char *kRouDiPools = R"([general]
version = 1

[[segment]]

[[segment.mempool]]
size = 256
count = 2048

[[segment.mempool]]
size = 4224
count = 2048

[[segment.mempool]]
size = 65664
count = 384

[[segment.mempool]]
size = 1048704
count = 64
)";
// Without its monitoring (-m): it would take processes for dead that stood still for 1.5 s while others were measured.
inline constexpr const char *kRouDiArguments[] = {"-c", kRouDiConfig, "-l", "warning", "-m", "off", nullptr};
inline constexpr icepath_daemon kRouDi = {
	sizeof(icepath_daemon),      "iox-roudi", "iceoryx", kRouDiArguments, kRouDiConfig, kRouDiPools,
	"RouDi is ready for clients"};

} // namespace icepath::plugin_kit
