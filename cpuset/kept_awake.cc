// SPDX-License-Identifier: Apache-2.0
#include "cpuset/kept_awake.h"

#include <cstdint>

namespace icepath::cpuset {

KeptAwake::KeptAwake() : file_("/dev/cpu_dma_latency", std::ios::binary)
{
	const int32_t most_us = 0;
	works_ = file_.write(reinterpret_cast<const char *>(&most_us), sizeof most_us).flush().good();
}

} // namespace icepath::cpuset
