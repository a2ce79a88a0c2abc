// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a kernel limit: one number in a file.
#include <cstdint>
#include <cstdio>

namespace icepath::plugin_kit {

inline constexpr uint64_t kMiB = 1024 * 1024;

inline uint64_t kernel_limit(const char *path, uint64_t otherwise)
{
	FILE *file = std::fopen(path, "re");
	if (!file)
		return otherwise;
	unsigned long long value = 0;
	const bool read = std::fscanf(file, "%llu", &value) == 1;
	std::fclose(file);
	return read ? value : otherwise;
}

} // namespace icepath::plugin_kit
