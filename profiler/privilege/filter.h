// SPDX-License-Identifier: Apache-2.0
#pragma once
// The system calls that a process that keeps rights may still make; every other one returns EPERM.
#include <seccomp.h>

#include <initializer_list>
#include <string>

namespace icepath::privilege {

class Filter {
public:
	// Allows what all of them need: their socket, reading files, memory, time, exit. `whose`: the process, for
	// sentences. Each function throws RightsKept (rights.h) if the kernel refuses.
	explicit Filter(std::string whose);
	~Filter();
	Filter(const Filter &) = delete;
	Filter &operator=(const Filter &) = delete;

	// Calls that this architecture lacks are accepted.
	void allow(int call);
	void allow(int call, scmp_arg_cmp where);
	void allow_each(int call, unsigned argument, std::initializer_list<uint64_t> values);
	void load(); // needs no_new_privs

private:
	void check(int result) const;

	const std::string whose_;
	void *filter_;
};

} // namespace icepath::privilege
