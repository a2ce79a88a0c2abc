// SPDX-License-Identifier: Apache-2.0
#pragma once
// The factor by which all delays are longer than listed, and messages rarer. On an emulated machine, which needs
// milliseconds for a message, delays of a fraction of a millisecond would drown.
#include <cstdint>
#include <cstdlib>

namespace icepath::selftest {

// The environment variable with the factor, for injectors and workers. Without it: 1.
inline constexpr const char *kStretchVariable = "ICEPATH_SELFTEST_STRETCH";
inline constexpr int kMostStretch = 50; // a control group's period is at most a second

inline uint64_t stretched(uint64_t ns)
{
	const char *factor = std::getenv(kStretchVariable);
	return factor ? ns * std::strtoull(factor, nullptr, 10) : ns;
}

} // namespace icepath::selftest
