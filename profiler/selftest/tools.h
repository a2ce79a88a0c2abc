// SPDX-License-Identifier: Apache-2.0
#pragma once
// What injecting needs root for, obtained before root is given up. Failures are reported on request.
#include <memory>
#include <optional>
#include <string>

#include "cpuset/kept_awake.h"
#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/selftest/cpu_group.h"
#include "profiler/selftest/network_injection.h"

namespace icepath::selftest {

template <class Tool> class Prepared {
public:
	explicit Prepared(Tool (*make)())
	{
		try {
			tool_ = make();
		} catch (const Failure &failure) {
			why_not_ = failure.what();
		}
	}
	bool is_there() const { return tool_.has_value(); }
	// Throws Failure(MachineCannot) if it isn't available.
	const Tool &get() const
	{
		if (!tool_)
			throw Failure(ExitCode::MachineCannot, why_not_);
		return *tool_;
	}

private:
	std::optional<Tool> tool_;
	std::string why_not_;
};

struct Tools {
	Tools();
	cpuset::KeptAwake awake; // held by default
	Prepared<std::unique_ptr<CpuGroup>> throttled_group;
	Prepared<Fd> interrupt; // a BPF program
	Prepared<LoopbackDelay> device_delay;
};

} // namespace icepath::selftest
