// SPDX-License-Identifier: Apache-2.0
// Prints what icepath doesn't have on the machine that this is compiled for. 0 if x86-64 has all, and each other names
// what it lacks.
#include <sys/utsname.h>

#include <cstdio>

#include "profiler/doctor/architecture.h"

int main()
{
	utsname own = {};
	if (uname(&own) != 0)
		return 1;
	const std::optional<icepath::doctor::Check> check = icepath::doctor::architecture_check(own.machine);
	std::printf("%s\n", check ? check->found.c_str() : "nothing is left out");
#ifdef __x86_64__
	return check ? 1 : 0;
#else
	return check && check->found.find("callers of user code") != std::string::npos ? 0 : 1;
#endif
}
