// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of iceoryx2 that src/lib.rs exports; its crate has no C interface. Only the thread that made the ports may
// call these functions: ports have no locks.
#include <cstdint>

#include "middleware_adapters/shim_status.h"

extern "C" {

struct Iox2Wanted {
	const char *channel;
	uint32_t side;
	bool sends, receives;
	bool tells; // signals each message by an event, for which the receiver can sleep
	uint64_t queue; // messages that a subscriber holds
	uint64_t payload_bytes;
	bool (*gives_up)(const void *end); // asked repeatedly by a send that waits for room
	const void *end;
};

struct Iox2Ports;

// NULL: see `why`.
Iox2Ports *iox2_ports_make(const Iox2Wanted *wanted, char *why);
void iox2_ports_free(Iox2Ports *ports);
// Joins them with the peer's ports, as the first message would otherwise.
ShimStatus iox2_join(Iox2Ports *ports, char *why);

ShimStatus iox2_lend(Iox2Ports *ports, uint64_t bytes, void **slot, char *why);
// NOTHING: no receiver is left, or the send gave up.
ShimStatus iox2_send(Iox2Ports *ports, const void *slot, char *why);
ShimStatus iox2_take(Iox2Ports *ports, const void **slot, uint64_t *bytes, char *why);
void iox2_give_back(Iox2Ports *ports, const void *slot);
// Sleeps until an event or a signal, for at most 100 ms.
ShimStatus iox2_wait(Iox2Ports *ports, char *why);
}
