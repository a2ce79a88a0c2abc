// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the fuzzers of root's processes share. Each serves its process in a thread of the fuzzer.
#include <sys/types.h>

namespace icepath {

// A child of the fuzzer, which ends with it.
pid_t child_that_waits();

// Says which fuzzer it is, and what is wrong.
[[noreturn]] void fail(const char *what);

} // namespace icepath
