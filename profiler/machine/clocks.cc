// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine/clocks.h"

#include <ctime>

#include "icepath/plugin.h"

namespace icepath::machine {

model::ClockPair read_clocks()
{
	timespec real{};
	clock_gettime(CLOCK_REALTIME, &real);
	return {icepath_now_ns(),
			static_cast<uint64_t>(real.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(real.tv_nsec)};
}

} // namespace icepath::machine
