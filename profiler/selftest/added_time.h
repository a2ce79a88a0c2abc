// SPDX-License-Identifier: Apache-2.0
#pragma once
// The blocks of a run with injections, in pairs: one without and one with the injection, of the same round. A pure
// function of the run directory.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/path/observations.h"
#include "profiler/path/path.h"
#include "profiler/selftest/injections.h"
#include "profiler/selftest/plugin/relay_file.h"

namespace icepath::selftest {

// The selftest's relay records each message that it passed on, which can disprove the breakdown's path through it.
// Files in a folder, one for each relay process.
struct RelayStamps {
	uint32_t tid = 0;
	std::vector<RelayStamp> stamps; // sorted by time
};

// The stamps in the folder; nothing if there is none.
std::vector<RelayStamps> read_relay_stamps(const std::string &folder);

// Means over the messages of one block from side 0 to side 1 whose path is complete, in nanoseconds.
struct BlockMeans {
	double latency_ns = 0;
	std::array<std::array<double, model::kPartCount>, model::kLayerCount> layers_ns{}; // by layer and part
	double named_ns = 0; // where the injection must land, and blamed on its culprit
	uint64_t complete = 0, messages = 0;
	uint64_t contradicted = 0; // of the complete ones: the relay's stamps disagree
};

struct BlockPair {
	BlockMeans without, with;
};

BlockMeans means_of(const path::Observations &seen, const std::vector<path::Path> &paths, uint32_t sender,
					const Injection &injection);

// Whether a complete path leads from the sender through one of these relays, and no other, to the receiver, and its
// time in the relay encloses exactly one pair of that relay's stamps.
bool goes_by(const path::Path &path, const path::Delivery &delivery, const std::vector<RelayStamps> &relays);

// The folder of relays' stamps in a run directory.
inline constexpr const char *kStampsFolder = "relay-stamps";

// The pairs of each injection. The run's cells 2i and 2i + 1 are those of `measured[i]`, without and with it. Blocks
// with too few complete paths for a mean are left out. Throws Failure as rundir::Reader does.
std::vector<std::vector<BlockPair>> read_pairs(const std::string &run, const std::vector<const Injection *> &measured);

} // namespace icepath::selftest
