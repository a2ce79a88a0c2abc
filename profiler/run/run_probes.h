// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's probes: which ones cells need, and those that the root helper holds.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/capture/selection.h"
#include "profiler/model/run.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/privilege/slots_view.h"
#include "profiler/run/rounds.h"
#include "profiler/run/run_record.h"

namespace icepath::run {

// Loaded once, attached as visits need them, gone with the helper.
class RunProbes {
public:
	// The references must outlive this.
	RunProbes(privilege::Helper &helper, Notices &notices) : helper_(helper), notices_(notices) {}

	// Returns Helper::load()'s result without the slots' descriptors, which slots() takes.
	privilege::Helper::Loaded load(const std::vector<uint32_t> &cpus, uint32_t records_per_slot,
								   std::optional<capture::Tier> forced, bool samples);
	// Attaches exactly these, if the helper lives. A probe that can't be attached becomes a notice. Throws HelperDied.
	void attach(capture::ProbeSet wanted);
	void detach(); // all of them; throws nothing
	// After a block of these cells: adds a notice if a task wasn't watched that was to be.
	void tell_unwatched(const Visit &visit, const std::vector<model::Cell> &cells);
	void helper_died() { works_ = false; }

	bool works() const { return works_; } // the helper lives, as far as is known
	const privilege::SlotsView &slots() const { return slots_; }
	privilege::Helper &helper() const { return helper_; }

private:
	privilege::Helper &helper_;
	Notices &notices_;
	privilege::SlotsView slots_;
	capture::ProbeSet available_ = 0;
	uint32_t unwatched_ = 0; // told so far
	bool works_ = true;
};

// The source of each layer of these cells: the needed probes, if they load here, and the stamps.
std::vector<model::ProbeUse> probe_uses(const std::vector<model::Cell> &cells, const privilege::Helper::Loaded &loaded);

// The probes that the visit's cells need.
capture::ProbeSet probes_of(const Visit &visit, const std::vector<model::Cell> &cells);

// Groups visits with the same probes, so that a probed round attaches few. Visits of one cell's arms, which follow one
// another in `visits`, still do.
std::vector<Visit> in_order_of_probes(std::vector<Visit> visits, const std::vector<model::Cell> &cells);

} // namespace icepath::run
