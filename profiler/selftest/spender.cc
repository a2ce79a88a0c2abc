// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/spender.h"

#include <sched.h>

namespace icepath::selftest {

Spender::Spender(const char *name, uint32_t cpu)
	: Child(
		  name, cpu,
		  [] {
			  const sched_param none{0};
			  return sched_setscheduler(0, SCHED_IDLE, &none) == 0;
		  },
		  [] {
			  for (;;)
				  asm volatile("" ::: "memory");
		  })
{}

} // namespace icepath::selftest
