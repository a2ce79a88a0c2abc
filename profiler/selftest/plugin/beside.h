// SPDX-License-Identifier: Apache-2.0
#pragma once
// Processes that an endpoint of the selftest has beside it.
#include <sys/types.h>

#include <cstdint>
#include <span>

namespace icepath::selftest {

// A process that does `work` until this end's thread ends. It keeps no descriptor but these, which it is told under the numbers that
// they have there. -1 with errno set.
pid_t start_beside(const char *name, void (*work)(void *with, std::span<const int> kept), void *with,
				   std::span<const int> kept);
void end_beside(pid_t process);

bool sleep_for(uint64_t ns); // false with errno set

} // namespace icepath::selftest
