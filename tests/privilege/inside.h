// SPDX-License-Identifier: Apache-2.0
#pragma once
// System calls made by another process, as if taken over: with its user, its capabilities and its filter.
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>

namespace icepath::privilege {

// Why this isn't possible here; empty: it is.
std::string why_not_inside();

class Inside {
public:
	// `pid` sleeps in a system call, and the caller may trace it, as root may. Stops it until the destructor. Throws
	// std::runtime_error.
	explicit Inside(pid_t pid);
	~Inside();
	Inside(const Inside &) = delete;
	Inside &operator=(const Inside &) = delete;

	// The kernel's result: -errno on failure. The call may end the process.
	long call(long number, std::array<long, 6> arguments = {});
	// The address of a copy of the bytes in it, valid until the next call.
	long holding(const void *bytes, size_t count);
	long holding(const std::string &text) { return holding(text.c_str(), text.size() + 1); }

private:
	const pid_t pid_;
	struct Registers;
	Registers *before_;
};

} // namespace icepath::privilege
