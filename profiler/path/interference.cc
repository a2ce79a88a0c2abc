// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/interference.h"

#include <algorithm>

#include "profiler/path/shares.h"
#include "profiler/path/timeline.h"

namespace icepath::path {

std::vector<Interference> interferences(const Observations &seen, const Thread &thread, uint64_t begin_ns,
										uint64_t end_ns)
{
	std::vector<Interference> found;
	SharingOut sharing(seen);
	for (const Stretch &stretch : stretches(thread, begin_ns, end_ns)) {
		if (!stretch.off) {
			if (const auto cpu = seen.cpus.find(stretch.cpu); cpu != seen.cpus.end())
				for (const Carved &one : outermost_interrupts(cpu->second, stretch.begin_ns, stretch.end_ns))
					found.push_back({culprit_of(*one.whole), one.begin_ns, one.end_ns - one.begin_ns});
			continue;
		}
		if (flaw(*stretch.off) != Reason::None)
			continue;
		const uint64_t ready_ns = stretch.off->preempted ? stretch.off->out_ns : stretch.off->wakeup_ns;
		const uint64_t from_ns = std::max(stretch.begin_ns, ready_ns);
		if (from_ns < stretch.end_ns)
			for (const Share &share : sharing.of(thread, *stretch.off, from_ns, stretch.end_ns))
				if (share.who.kind != Culprit::Kind::IdleCpu)
					found.push_back({share.who, from_ns, share.ns});
	}
	return found;
}

} // namespace icepath::path
