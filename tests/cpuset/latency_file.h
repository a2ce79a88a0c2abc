// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernel's file that keeps CPUs awake, or one like it.
#include <cstdint>
#include <fstream>
#include <string>

namespace icepath::cpuset {

inline const std::string kLatencyFile = "/dev/cpu_dma_latency";

// -1: there is nothing to be read.
inline int32_t read_us(const std::string &path)
{
	int32_t us = -1;
	std::ifstream(path, std::ios::binary).read(reinterpret_cast<char *>(&us), sizeof us);
	return us;
}

} // namespace icepath::cpuset
