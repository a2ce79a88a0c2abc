// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a relay writes its stamps.
#include <cstdint>

namespace icepath::selftest {

// The environment variable by which relays learn the folder.
inline constexpr const char *kStampsVariable = "ICEPATH_SELFTEST_STAMPS";

struct RelayStamp {
	uint64_t taken_ns = 0; // read once the taking call had come back; 0: there are no more
	uint64_t given_ns = 0; // read before the giving call
};

// A file. Memory that the relay maps, so that nothing is lost where it is killed.
struct RelayFile {
	static constexpr uint32_t kMost = 1u << 15;
	uint32_t tid, unused;
	RelayStamp stamps[kMost];
};

} // namespace icepath::selftest
