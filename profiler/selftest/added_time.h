// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run with injections recorded, as pairs of blocks: one without the injection and one with it, of the same round. A pure
// function of the run directory.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/path/observations.h"
#include "profiler/path/path.h"
#include "profiler/selftest/injections.h"
#include "profiler/selftest/relay_stamps.h"

namespace icepath::selftest {

// Means over the messages of one block from side 0 to side 1 whose path is complete, in nanoseconds.
struct BlockMeans {
	double latency_ns = 0;
	std::array<std::array<double, model::kPartCount>, model::kLayerCount> layers_ns{}; // by layer and part
	double named_ns = 0; // where the injection must land, and blamed on its culprit
	uint64_t complete = 0, messages = 0;
	uint64_t contradicted = 0; // of the complete ones: the stamps of the relay in between say something else
};

struct BlockPair {
	BlockMeans without, with;
};

BlockMeans means_of(const path::Observations &seen, const std::vector<path::Path> &paths, uint32_t sender,
					const Injection &injection);

// Whether a complete path goes from the sender by this relay and nobody else to the receiver, and the relay had the message for all
// of the time between two of its stamps.
bool goes_by(const path::Path &path, const path::Delivery &delivery, const std::vector<RelayStamps> &relays);

// Where in a run directory the relays' stamps are.
inline constexpr const char *kStampsFolder = "relay-stamps";

// Of each injection its pairs. Cells 2i and 2i + 1 of the run are those of `measured[i]`, without and with it. Blocks with too
// few complete paths for a mean are left out. Throws Failure as rundir::Reader does.
std::vector<std::vector<BlockPair>> read_pairs(const std::string &run, const std::vector<const Injection *> &measured);

} // namespace icepath::selftest
