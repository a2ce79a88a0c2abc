// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/root_fuzzer.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

// Leak detection uses ptrace(2), which the filter of a serving thread forbids.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() { return "detect_leaks=0"; }

namespace icepath {

pid_t child_that_waits()
{
	const pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return child;
}

void fail(const char *what)
{
	std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	std::abort();
}

} // namespace icepath
