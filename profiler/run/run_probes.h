// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's probes, which the root helper holds: loaded once, attached as visits need them, gone with the helper.
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
	// The references must outlive this.
	RunProbes(privilege::Helper &helper, Notices &notices) : helper_(helper), notices_(notices) {}

	// Returns Helper::load()'s result without the slots' descriptors, which slots() takes.
	privilege::Helper::Loaded load(const std::vector<uint32_t> &cpus, uint32_t records_per_slot,
								   std::optional<capture::Tier> forced);
	// Attaches exactly these, if the helper lives. A probe that can't be attached becomes a notice. Throws HelperDied.
	void attach(capture::ProbeSet wanted);
	void detach(); // all of them; throws nothing
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
