// SPDX-License-Identifier: Apache-2.0
#pragma once
// Classifies the sleep of a thread that wasn't waiting for the message: the part of `blocked`, as far as evidence
// shows. A waking by a task alone is no evidence of a lock; it only names the waker.
#include "profiler/path/observations.h"

namespace icepath::path {

// Returns the thread's call at this instant, or nullptr.
const Call *call_at(const Thread &thread, uint64_t at_ns);

bool in_sending_call(const Transfer *out, uint64_t at_ns);

// Whether the giver is in its sending call or, before that, waits for room in a slot.
bool is_sending(const Transfer *out, uint64_t at_ns);

// `out`: the transfer by which the thread gives the message on, or nullptr.
Part blocked_part(const Observations &seen, const Thread &thread, const OffCpu &off, const Transfer *out);

// Whether it slept for a page or for memory, and so not for a message, whatever call it was in.
constexpr bool is_for_memory(const OffCpu &off) { return off.in_fault || off.in_reclaim; }

// Whether a softirq that carries packets woke it.
bool is_of_packets(const OffCpu &off);

} // namespace icepath::path
