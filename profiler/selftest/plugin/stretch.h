// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many times longer than listed all delays are, and how many times rarer messages. On a machine that needs milliseconds for a
// message, an emulated one, delays of a fraction of a millisecond drown.
#include <cstdint>
#include <cstdlib>

namespace icepath::selftest {

// The environment variable by which what injects, and the workers, learn it. Without it: 1.
inline constexpr const char *kStretchVariable = "ICEPATH_SELFTEST_STRETCH";
inline constexpr int kMostStretch = 50; // a control group's period is a second at most

inline uint64_t stretched(uint64_t ns)
{
	const char *factor = std::getenv(kStretchVariable);
	return factor ? ns * std::strtoull(factor, nullptr, 10) : ns;
}

} // namespace icepath::selftest
