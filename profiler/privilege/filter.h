// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which system calls a process that keeps rights still makes; every other one returns EPERM.
#include <seccomp.h>

#include <initializer_list>
#include <string>

namespace icepath::privilege {

class Filter {
public:
	// With what any of them needs: to serve its socket, to read files, memory, time, an end. `whose` names it in sentences. Each
	// function throws Failure(MachineCannot) where the kernel takes no filter.
	explicit Filter(std::string whose);
	~Filter();
	Filter(const Filter &) = delete;
	Filter &operator=(const Filter &) = delete;

	// What this architecture doesn't have is taken as well.
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
