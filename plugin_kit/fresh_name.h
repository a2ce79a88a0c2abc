// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names in folders that are everybody's (/tmp, /dev/shm, queues): a user who can guess the next one takes it first, and
// so ends a run. A channel's name can't be guessed, but is seen once one file has it.
#include <sys/random.h>

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>

namespace icepath::plugin_kit {

// The channel's name and 64 random bits: 17 characters more. For one file.
inline std::string fresh_name(const char *channel)
{
	uint64_t random = 0;
	while (getrandom(&random, sizeof(random), 0) < 0 && errno == EINTR) {
	}
	char digits[24];
	std::snprintf(digits, sizeof(digits), "-%016" PRIx64, random);
	return std::string(channel) + digits;
}

} // namespace icepath::plugin_kit
