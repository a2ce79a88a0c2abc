// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of Zenoh that src/lib.rs exports; its crate has no C interface.
#include <cstdint>

#include "middleware_adapters/shim_status.h"

extern "C" {

struct ZenohWanted {
	const char *config; // of the session, as JSON5
	const char *channel;
	uint32_t side;
	bool sends, receives;
	bool express; // the publisher's messages aren't batched
	uint64_t queue; // messages of a subscriber
	// NULL: the receiver asks for messages. Otherwise a thread of the library calls it for each; never after the free.
	void (*handle)(void *end, const void *data, uint64_t bytes) = nullptr;
	void *end = nullptr; // passed to `handle`
};

struct ZenohEnd;

// NULL: see `why`.
ZenohEnd *zenoh_end_make(const ZenohWanted *wanted, char *why);
void zenoh_end_free(ZenohEnd *end);

// Whether messages would reach a subscriber.
bool zenoh_is_matched(const ZenohEnd *end);

ShimStatus zenoh_put(const ZenohEnd *end, const void *data, uint64_t bytes, char *why);

// Sleeps until there is a message, of `bytes` bytes. NOTHING: zenoh_stop() was called.
ShimStatus zenoh_take(const ZenohEnd *end, uint64_t *bytes, char *why);
// Copies the beginning of the last message taken.
ShimStatus zenoh_read(const ZenohEnd *end, void *data, uint64_t bytes, char *why);

// Any thread: ends the subscription, and with it a wait for its messages.
void zenoh_stop(const ZenohEnd *end);
}
