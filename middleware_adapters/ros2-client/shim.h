// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of ros2-client that src/lib.rs exports; its crate has no C interface.
#include <cstdint>

#include "middleware_adapters/shim_status.h"

extern "C" {

struct Ros2Wanted {
	uint16_t domain;
	const char *channel;
	uint32_t side;
	bool sends, receives;
	uint64_t queue; // messages that a topic keeps
};

struct Ros2End;

// NULL: see `why`.
Ros2End *ros2_end_make(const Ros2Wanted *wanted, char *why);
void ros2_end_free(Ros2End *end);

// Whether it has found the other end of each of its topics.
bool ros2_is_matched(const Ros2End *end);

// The message that ros2_publish() sends.
ShimStatus ros2_fill(Ros2End *end, const void *data, uint64_t bytes, char *why);
// NOTHING: no room within a tenth of a second. The message stays.
ShimStatus ros2_publish(Ros2End *end, char *why);

// Sleeps until there is a message; its `data` stays until the next is taken. NOTHING: ros2_stop() was called.
ShimStatus ros2_take(Ros2End *end, const void **data, uint64_t *bytes, char *why);

// Any thread: ends the waits of ros2_take(), now and later.
void ros2_stop(const Ros2End *end);
}
