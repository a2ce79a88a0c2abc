// SPDX-License-Identifier: Apache-2.0
#pragma once
// Watches running programs, and writes what the probes see of them, window after window, into a run directory. One
// thread, as the invoking user; the helper does what needs root. The programs aren't touched.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profiler/attach/targets.h"
#include "profiler/model/attached.h"
#include "profiler/model/run.h"
#include "profiler/model/window.h"
#include "profiler/privilege/root_helper.h"

namespace icepath::attach {

struct Wishes {
	std::string directory; // of the run; made by the session
	double duration_s = 0; // 0: until it is stopped or the programs have ended
	// Of each CPU, a power of 2. They last half a second of the busiest programs that were tried.
	uint32_t records_per_ring = 1u << 17;
	bool ends_with_first = false; // as soon as the first of the programs has ended, not all of them
	// Has each window once it is written, with the connections that are open then.
	std::function<void(model::Window, std::vector<model::Connection>)> watched = {};
};

struct Outcome {
	bool interrupted = false;
	uint32_t windows = 0;
	uint64_t records = 0, lost = 0;
	std::vector<std::string> notices;
};

// `targets` are those that the helper has taken. `stops`: the user wants to end it. Throws Failure if nothing could be
// watched.
Outcome watch(const std::vector<OpenTarget> &targets, const model::Head &head, const Wishes &wishes,
			  privilege::Helper &helper, const std::function<bool()> &stops);

} // namespace icepath::attach
