// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which futex words are locks. The operation doesn't show it: glibc uses FUTEX_WAIT for a mutex and FUTEX_WAIT_BITSET
// for a condition variable, Rust's standard library the latter for both, Go's runtime the former for everything.
//
// The use of the word does. A thread that slept for a lock then holds it, and releases it by waking at the same word,
// because a lock with waiters is marked as contended. The wait at a condition variable, a semaphore or a parked thread
// has no such release. A thread that both waits and wakes at one condition variable counts as locking: its wakings then
// hand nothing on, and a path through them is inferred.
#include "profiler/path/observations.h"

namespace icepath::decode {

// Sets Call::Kind::FutexLock for the block's waits at words that are locks.
void tell_locks(path::Observations &seen);

} // namespace icepath::decode
