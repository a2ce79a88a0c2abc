// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the selftest's own relay knows of each message that it handed on: by which the breakdown's way through it can be proved
// wrong. Files of a folder, one of each relay process.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/selftest/plugin/relay_file.h"

namespace icepath::selftest {

struct RelayStamps {
	uint32_t tid = 0;
	std::vector<RelayStamp> stamps; // by time
};

// What is in the folder; nothing where there is none.
std::vector<RelayStamps> read_relay_stamps(const std::string &folder);

} // namespace icepath::selftest
