// SPDX-License-Identifier: Apache-2.0
#pragma once
// Strings in the fixed-size fields of messages between icepath and its workers.
#include <cstddef>
#include <cstring>
#include <string>

namespace icepath::worker {

// Up to the first 0, or the whole field.
template <size_t N> std::string text(const char (&field)[N]) { return {field, strnlen(field, N)}; }

// Copies into a zeroed field, truncating. nullptr: does nothing.
template <size_t N> void put(char (&field)[N], const char *source)
{
	if (source)
		std::strncpy(field, source, N - 1);
}

} // namespace icepath::worker
