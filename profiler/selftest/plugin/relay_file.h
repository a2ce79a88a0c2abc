// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file of a relay's stamps.
#include <cstdint>

namespace icepath::selftest {

// The environment variable that names the relays' folder.
inline constexpr const char *kStampsVariable = "ICEPATH_SELFTEST_STAMPS";

struct RelayStamp {
	uint64_t taken_ns = 0; // read after the taking call; 0: no more stamps
	uint64_t given_ns = 0; // read before the giving call
};

// The file's layout. The relay maps it, so that nothing is lost if it is killed.
struct RelayFile {
	static constexpr uint32_t kMost = 1u << 15;
	uint32_t tid, unused;
	RelayStamp stamps[kMost];
};

} // namespace icepath::selftest
