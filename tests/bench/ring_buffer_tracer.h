// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tracers that use the kernel's own ring buffer, by an instance in tracefs: trace-cmd, and the instance without it.
#include "tests/bench/external_tracer.h"

namespace icepath::bench {

// `folder`: where trace-cmd may write.
std::vector<TracerKind> ring_buffer_kinds(const std::string &folder, const Traced &traced);

} // namespace icepath::bench
