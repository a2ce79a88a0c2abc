// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which futex words are locks. The operation doesn't tell: glibc waits for a mutex by FUTEX_WAIT and for a condition variable by
// FUTEX_WAIT_BITSET, Rust's standard library for both by the latter, Go's runtime for everything by the former.
//
// What was done with the word tells. Who slept for a lock holds it then, and lets go of it by waking at the very word, since a lock
// that was slept for is marked as contended. Nobody lets go of what a condition variable, a semaphore or a parked thread waits for.
// A thread that both waits and wakes at one condition variable is taken for one that locks: its wakings hand nothing over then, so
// that a path by them is inferred.
#include "profiler/path/observations.h"

namespace icepath::decode {

// Makes waits at words that are locks Call::Kind::FutexLock, in all of the block.
void tell_locks(path::Observations &seen);

} // namespace icepath::decode
