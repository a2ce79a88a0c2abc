// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flame graphs' data as files of other tools.
#include <string>

#include "profiler/analysis/flamegraph.h"

namespace icepath::exports {

// One line for each stack, "frame;frame;frame weight", as flamegraph.pl, inferno and speedscope read them. The weight
// is in nanoseconds over all messages; target and variant are frames of their own. Stacks are in the order of their
// names.
std::string folded(const analysis::FlameGraph &graph);

// The file format of speedscope, with a profile for each cell: https://www.speedscope.app/file-format-schema.json.
// Weights are nanoseconds of a message.
std::string speedscope(const analysis::FlameGraph &graph, const std::string &title);

} // namespace icepath::exports
