// SPDX-License-Identifier: Apache-2.0
#pragma once
// What kept a thread from running while it could have run.
#include <vector>

#include "profiler/path/observations.h"

namespace icepath::path {

// An interrupt on top of the thread, or a task that had its CPU: once for each interrupt, and once for each task and
// time that the thread waited.
struct Interference {
	Culprit who; // never None, never IdleCpu: leaving an idle state is a part of waking
	uint64_t begin_ns = 0; // when the thread began to wait, or was interrupted
	uint64_t ns = 0;
};

// Within [begin, end). A sleeping thread is kept from running only from its wakeup on.
std::vector<Interference> interferences(const Observations &seen, const Thread &thread, uint64_t begin_ns,
										uint64_t end_ns);

} // namespace icepath::path
