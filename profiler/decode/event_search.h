// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds a message's event among those of a block and stores it in the transfer. `events` are always in time order.
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/decode/log.h"
#include "profiler/path/observations.h"

namespace icepath::decode {

Mark mark_of(const SocketEvent &event, Provenance provenance = Provenance::Exact);

// The events of the socket with this key; none for key 0.
std::vector<SocketEvent> of_socket(const std::vector<SocketEvent> &events, uint64_t key);

// The last event within [begin, end], or nullptr.
const SocketEvent *last_within(const std::vector<SocketEvent> &events, uint64_t begin_ns, uint64_t end_ns);

// The events within [begin, end].
std::span<const SocketEvent> all_within(const std::vector<SocketEvent> &events, uint64_t begin_ns, uint64_t end_ns);

// Whether both ends of the sending call are known and in order.
bool has_call(const Transfer &transfer);

void clear_ready(Transfer &transfer);

// Sets announced_until_ns for announcements by tasks: at the latest the task's next announcement, because it wakes
// before it goes on.
void tell_announcers(const SocketEvents &events, Observations &seen);
// Sets the announcing or queueing event. With `seen`, an interrupt around the event becomes this message's own work.
void set_ready(const SocketEvent &event, Provenance provenance, const Observations *seen, Transfer &transfer);
void set_device(const SocketEvent &event, const Observations &seen, Transfer &transfer);

// Fills `seen.reached`: the sockets where calls announced what they gave.
void tell_reached(const SocketEvents &events, Observations &seen);

} // namespace icepath::decode
