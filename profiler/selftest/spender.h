// SPDX-License-Identifier: Apache-2.0
#pragma once
// A task that uses all idle time of a CPU: it yields to all others at once (SCHED_IDLE).
#include "profiler/selftest/child.h"

namespace icepath::selftest {

class Spender : public Child {
public:
	Spender(const char *name, uint32_t cpu);
};

} // namespace icepath::selftest
