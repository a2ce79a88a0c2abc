// SPDX-License-Identifier: Apache-2.0
#pragma once
// For what a thread slept that wasn't waiting for the message: the part of `blocked`, as far as evidence tells. That a task woke it
// is no evidence of a lock: the waker is named, and that is all.
#include "profiler/path/observations.h"

namespace icepath::path {

// The thread's call at this instant, or nullptr.
const Call *call_at(const Thread &thread, uint64_t at_ns);

bool in_sending_call(const Transfer *out, uint64_t at_ns);

// Within its sending call, or where it waits for room in memory before that.
bool is_sending(const Transfer *out, uint64_t at_ns);

// `out`: the transfer by which the thread gives the message on, if it does.
Part blocked_part(const Observations &seen, const Thread &thread, const OffCpu &off, const Transfer *out);

// Whether it slept for a page or for memory: not for a message, whatever call it was in.
constexpr bool is_for_memory(const OffCpu &off) { return off.in_fault || off.in_reclaim; }

// Whether this waking came out of a softirq that carries packets.
bool is_of_packets(const OffCpu &off);

} // namespace icepath::path
