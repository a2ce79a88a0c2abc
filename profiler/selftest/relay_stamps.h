// SPDX-License-Identifier: Apache-2.0
#pragma once
// The selftest's relay records each message that it passed on, which can disprove the breakdown's path through it.
// Files in a folder, one for each relay process.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/selftest/plugin/relay_file.h"

namespace icepath::selftest {

struct RelayStamps {
	uint32_t tid = 0;
	std::vector<RelayStamp> stamps; // sorted by time
};

// The stamps in the folder; nothing if there is none.
std::vector<RelayStamps> read_relay_stamps(const std::string &folder);

} // namespace icepath::selftest
