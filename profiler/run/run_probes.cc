// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/run_probes.h"

#include <fmt/format.h>

#include <utility>

#include "profiler/capture/probes.h"

namespace icepath::run {

privilege::Helper::Loaded RunProbes::load(const std::vector<uint32_t> &cpus, uint32_t records_per_slot,
										  std::optional<capture::Tier> forced)
{
	privilege::Helper::Loaded loaded = helper_.load(cpus, records_per_slot, forced);
	available_ = loaded.available;
	slots_ = SlotsView(loaded, cpus);
	return loaded;
}

void RunProbes::attach(capture::ProbeSet wanted)
{
	if (!works_)
		return;
	const capture::ProbeSet available = helper_.attach(wanted);
	for (size_t probe = 0; probe < capture::kProbes.size(); probe++)
		if ((available_ & ~available & capture::bit(probe)) != 0)
			notices_.add(fmt::format("{} couldn't be attached after all: what rests on it is inferred or absent",
									 capture::kProbes[probe].name));
	available_ = available;
}

void RunProbes::detach()
{
	if (!works_)
		return;
	try {
		helper_.attach(0);
	} catch (const privilege::HelperDied &) {
		works_ = false; // the kernel detached its probes
	}
}

} // namespace icepath::run
