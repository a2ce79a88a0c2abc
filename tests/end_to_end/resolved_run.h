// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run directory with every probed block resolved and kept, for tests that look at single messages.
#include <filesystem>
#include <vector>

#include "profiler/model/layers.h"
#include "profiler/model/run.h"
#include "profiler/resolve/resolve.h"

namespace icepath::end_to_end {

struct ResolvedRun {
	model::Head head;
	std::vector<resolve::ResolvedBlock> blocks; // unprobed ones have only the block
};

ResolvedRun read_resolved(const std::filesystem::path &run);

// Sum of a layer's segments, in nanoseconds.
double layer_ns(const path::Path &path, model::Layer layer);

} // namespace icepath::end_to_end
