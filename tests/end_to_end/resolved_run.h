// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run directory with every probed block decoded and every delivery walked, for tests that look at single messages.
#include <filesystem>
#include <map>
#include <vector>

#include "profiler/path/decode.h"
#include "profiler/path/walk.h"
#include "profiler/rundir/container.h"

namespace icepath::end_to_end {

struct ResolvedBlock {
	rundir::Block block;
	path::Observations seen; // empty where the block was unprobed
	std::vector<path::Path> paths; // beside seen.deliveries
};

struct ResolvedRun {
	rundir::Head head;
	std::vector<ResolvedBlock> blocks;
};

ResolvedRun resolve(const std::filesystem::path &run);

// Sum of a layer's segments, in nanoseconds.
double layer_ns(const path::Path &path, path::Layer layer);

} // namespace icepath::end_to_end
