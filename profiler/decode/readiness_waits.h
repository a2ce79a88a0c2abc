// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls that wait until there is something to take, as poll(2) and epoll_wait(2).
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profiler/path/observations.h"

namespace icepath::decode {

using path::Call;
using path::Observations;

class ReadinessWaits {
public:
	explicit ReadinessWaits(const Observations &seen);
	// The taker's first wait that returned after there was something to take, at `since_ns`, and before `take` took it:
	// its request for that. nullptr: the taking call itself.
	const Call *before(uint32_t taker, const Call &take, uint64_t since_ns) const;

private:
	std::unordered_map<uint32_t, std::vector<const Call *>> by_tid_; // in time order
};

} // namespace icepath::decode
