// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts in the fixed fields of messages between icepath and its workers.
#include <cstddef>
#include <cstring>
#include <string>

namespace icepath::worker {

// As far as its first 0, or all of it.
template <size_t N> std::string text(const char (&field)[N]) { return {field, strnlen(field, N)}; }

// Into a field that is zero; what is longer is cut. nullptr: nothing.
template <size_t N> void put(char (&field)[N], const char *source)
{
	if (source)
		std::strncpy(field, source, N - 1);
}

} // namespace icepath::worker
