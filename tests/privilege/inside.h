// SPDX-License-Identifier: Apache-2.0
#pragma once
// System calls made by another process, as by an attacker who has taken it over: with its user, its capabilities and its filter.
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>

namespace icepath::privilege {

// Why this can't be done here; empty: it can.
std::string why_not_inside();

class Inside {
public:
	// `pid` sleeps in a system call; the caller may trace it, as root may. It is stopped until the destructor. Throws
	// std::runtime_error.
	explicit Inside(pid_t pid);
	~Inside();
	Inside(const Inside &) = delete;
	Inside &operator=(const Inside &) = delete;

	// What the kernel answers: -errno where it fails. The process is gone where that ends it.
	long call(long number, std::array<long, 6> arguments = {});
	// An address of bytes in it, until the next call of this.
	long holding(const void *bytes, size_t count);
	long holding(const std::string &text) { return holding(text.c_str(), text.size() + 1); }

private:
	const pid_t pid_;
	struct Registers;
	Registers *before_;
};

} // namespace icepath::privilege
