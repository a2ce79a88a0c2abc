// SPDX-License-Identifier: Apache-2.0
#pragma once
// Helper processes of a selftest endpoint.
#include <sys/types.h>

#include <cstdint>
#include <span>

namespace icepath::selftest {

// Starts a process that does `work` until this end's thread ends. It keeps only the descriptors `kept`, and `work` gets
// their numbers there. -1 with errno set.
pid_t start_beside(const char *name, void (*work)(void *with, std::span<const int> kept), void *with,
				   std::span<const int> kept);
void end_beside(pid_t process);

bool sleep_for(uint64_t ns); // false with errno set

} // namespace icepath::selftest
