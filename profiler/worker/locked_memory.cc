// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/locked_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace icepath::worker {

std::string lock_memory()
{
	return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) ? std::string("mlockall: ") + std::strerror(errno)
															: std::string();
}

} // namespace icepath::worker
