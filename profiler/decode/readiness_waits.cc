// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/readiness_waits.h"

#include <algorithm>

namespace icepath::decode {

ReadinessWaits::ReadinessWaits(const Observations &seen)
{
	for (const auto &[tid, thread] : seen.threads)
		for (const Call &call : thread.calls)
			if (call.kind == Call::Kind::ReadinessWait)
				by_tid_[tid].push_back(&call);
}

const Call *ReadinessWaits::before(uint32_t taker, const Call &take, uint64_t since_ns) const
{
	const auto found = by_tid_.find(taker);
	if (found == by_tid_.end())
		return nullptr;
	const auto wait =
		std::ranges::partition_point(found->second, [&](const Call *one) { return one->end_ns < since_ns; });
	return wait != found->second.end() && (*wait)->end_ns <= take.begin_ns ? *wait : nullptr;
}

} // namespace icepath::decode
