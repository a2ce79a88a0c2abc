// SPDX-License-Identifier: Apache-2.0
#pragma once
// The selftest's run: cells in pairs, without and with each injection, in one session whose rounds all have probes.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/capture/probes.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/run/session.h"
#include "profiler/selftest/injector_process.h"
#include "profiler/selftest/matrix.h"

namespace icepath::selftest {

struct MeasureOptions {
	std::vector<const Injection *> injections;
	std::vector<uint32_t> cpus; // the sender's, the receiver's
	std::string directory; // the run's
	std::string workspace; // a folder of the invoking user that outlives the run
	double duration_s = 60;
	uint64_t started_ns = 0;
	std::optional<capture::Tier> tier;
};

struct Measured {
	std::vector<Row> matrix; // parallel to MeasureOptions::injections
	std::vector<std::string> notices;
	bool interrupted = false;
};

// `head` comes with host, isolation and command line filled in. Throws Failure as run_session() does, and
// Failure(MachineCannot) if nothing can be injected here.
Measured measure(const MeasureOptions &options, const model::Head &head, privilege::Helper &helper,
				 InjectorProcess &injector, const std::function<void(const run::Progress &)> &report);

} // namespace icepath::selftest
