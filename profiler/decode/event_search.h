// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finding the event of a message among those of a block, and what is kept of it. `events` are always in the order of time.
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/decode/log.h"
#include "profiler/path/observations.h"

namespace icepath::decode {

Mark mark_of(const SocketEvent &event, Provenance provenance = Provenance::Exact);

// Those of the socket with this key; none of key 0.
std::vector<SocketEvent> of_socket(const std::vector<SocketEvent> &events, uint64_t key);

// The last event within [begin, end], or nullptr.
const SocketEvent *last_within(const std::vector<SocketEvent> &events, uint64_t begin_ns, uint64_t end_ns);

// Those within [begin, end].
std::span<const SocketEvent> all_within(const std::vector<SocketEvent> &events, uint64_t begin_ns, uint64_t end_ns);

// Both ends of the sending call are known, and in order.
bool has_call(const Transfer &transfer);

// What announced or queued it. With `seen`, an interrupt around the event is told to be this message's own.
void clear_ready(Transfer &transfer);

// Of what a task announced: until when, which is its next announcement at the latest, since it wakes before it goes on.
void tell_announcers(const SocketEvents &events, Observations &seen);
void set_ready(const SocketEvent &event, Provenance provenance, const Observations *seen, Transfer &transfer);
void set_device(const SocketEvent &event, const Observations &seen, Transfer &transfer);

// Which sockets have what calls gave to others: fills `seen.reached`.
void tell_reached(const SocketEvents &events, Observations &seen);

} // namespace icepath::decode
