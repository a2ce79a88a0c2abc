// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's probes, as the root helper holds them: loaded once, attached as visits need them, gone with the helper.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/capture/selection.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/run/notices.h"
#include "profiler/run/slots_view.h"

namespace icepath::run {

class RunProbes {
public:
	// The references are the caller's.
	RunProbes(privilege::Helper &helper, Notices &notices) : helper_(helper), notices_(notices) {}

	// What Helper::load() says, but for the slots, which are mapped here.
	privilege::Helper::Loaded load(const std::vector<uint32_t> &cpus, uint32_t records_per_slot,
								   std::optional<capture::Tier> forced);
	// Those and no others. What couldn't be attached after all is a notice. Throws privilege::HelperDied. Nothing without a helper.
	void attach(capture::ProbeSet wanted);
	void detach(); // all; nothing is thrown
	void helper_died() { works_ = false; }

	bool works() const { return works_; } // the helper lives, as far as is known
	const SlotsView &slots() const { return slots_; }
	privilege::Helper &helper() const { return helper_; }

private:
	privilege::Helper &helper_;
	Notices &notices_;
	SlotsView slots_;
	capture::ProbeSet available_ = 0;
	bool works_ = true;
};

} // namespace icepath::run
