// SPDX-License-Identifier: Apache-2.0
#pragma once
// What src/lib.rs gives of Zenoh, which has no interface for C in its crate.
#include <cstdint>

#include "middleware_adapters/shim_status.h"

extern "C" {

struct ZenohWanted {
	const char *config; // of the session, as JSON5
	const char *channel;
	uint32_t side;
	bool sends, receives;
	uint64_t queue; // messages of a subscriber
};

struct ZenohEnd;

// Null: see `why`.
ZenohEnd *zenoh_end_make(const ZenohWanted *wanted, char *why);
void zenoh_end_free(ZenohEnd *end);

// Whether what is sent would reach a subscriber.
bool zenoh_is_matched(const ZenohEnd *end);

ShimStatus zenoh_put(const ZenohEnd *end, const void *data, uint64_t bytes, char *why);

// Sleeps until a message is there, of so many bytes. Nothing: zenoh_stop() was called.
ShimStatus zenoh_take(const ZenohEnd *end, uint64_t *bytes, char *why);
// Copies the beginning of the message that was taken last.
ShimStatus zenoh_read(const ZenohEnd *end, void *data, uint64_t bytes, char *why);

// By any thread: ends the subscription, and with it a wait for its messages.
void zenoh_stop(const ZenohEnd *end);
}
