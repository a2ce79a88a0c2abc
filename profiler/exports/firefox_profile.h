// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flame graph as a processed profile of Firefox Profiler (https://profiler.firefox.com), with a thread for each
// cell. Its samples are the stacks, one after another, weighted by the milliseconds that they take of a message
// ("tracing-ms"): folded stacks would become a sample for each nanosecond.
//
// The format is src/types/profile.ts of github.com/firefox-devtools/profiler, as of version 48; docs-developer/
// CHANGELOG-formats.md has its changes. Firefox Profiler reads all versions since 1.
#include <string>

#include "profiler/analysis/flamegraph.h"

namespace icepath::exports {

std::string firefox_profile(const analysis::FlameGraph &graph, const std::string &title);

} // namespace icepath::exports
